"""An example of every feature of MCP: tools, resources, prompts, and requests of a server to its client.

It has everything that the official conformance suite requires of a server, by the suite's names. Each kind is a module:
`contents` (kinds of content), `working` (progress, logs, errors), `asking` (the user, the model, the folders),
`rounds` (the same by hand, as revision 2026-07-28 has it), `reading` (resources), `prompting` (prompts and completion),
`schemas` (input schemas that contain more than types) and `changing` (lists that change).
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
