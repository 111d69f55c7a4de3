"""One of everything that MCP has: tools, resources, prompts and what a server may ask its client.

It has what the official conformance suite asks a server for, by the names that the suite uses. Each kind is a module:
`contents` (what a tool may answer), `working` (progress, logs, errors), `asking` (the user, the model, the folders),
`rounds` (the same by hand, as revision 2026-07-28 has it), `reading` (resources), `prompting` (prompts and completion),
`schemas` (input schemas with more than types) and `changing` (lists that change).
"""

import asking
import changing
import contents
import prompting
import reading
import rounds
import schemas
import working
from mcpframe import FrameServer

server = FrameServer(
    "everything",
    title="Everything",
    version="0.1.0",
    instructions="Every tool, resource and prompt shows one thing that MCP can do.",
    tools=[schemas.json_schema_tool()],
)

for part in (contents, working, asking, rounds, reading, prompting, schemas, changing):
    part.register(server)
