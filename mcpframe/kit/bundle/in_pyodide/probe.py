"""Lists the modules that serving needs, in /job/modules.json: what is imported once a small server has answered.

It is served as boot serves it, once for each protocol era, and asked for its tools, a structured result and an error.
"""

import json
import sys

from mcpframe.frame import sdk

sdk.prepare()

import mcpframe.frame.boot  # noqa: E402, F401 the SDK can be imported only now
import mcpframe.frame.window  # noqa: E402, F401
from mcp import Client  # noqa: E402
from mcpframe.frame import server as servers  # noqa: E402
from mcpframe.frame.server import FrameServer  # noqa: E402

server = FrameServer("probe", allowed_origins=["https://host.example"])


@server.tool()
def double(number: int) -> int:
    """Doubles a number."""
    return number * 2


servers.equip(server)
for mode in ("legacy", "auto"):
    async with Client(server, mode=mode) as client:  # noqa: F704, PLE1142 run as a coroutine
        await client.list_tools()  # noqa: F704, PLE1142
        await client.call_tool("double", {"number": 2})  # noqa: F704, PLE1142
        await client.call_tool("double", {"number": "two"})  # noqa: F704, PLE1142

with open("/job/modules.json", "w") as file:
    json.dump(sorted(sys.modules), file)
