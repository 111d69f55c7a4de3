"""The server that imports a project's server and describes it, as a build does: see `static/playground/making.js`.

It runs in a frame of its own, and beside it are the project's files and the build's job `import_server`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import playground_import_server as job

from mcpframe import FrameServer

server = FrameServer("playground-description")


@server.tool(structured_output=False)
async def describe(entry: str, environment: dict[str, Any]) -> str:
    """Import the server, and return the report as JSON."""
    return json.dumps(await job.inspected(entry, str(Path(__file__).parent), "server", environment))
