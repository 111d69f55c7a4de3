"""A file that comes with the server, and a requirement that is fetched only when a tool needs it."""

import json
from pathlib import Path
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from mcpframe import FrameServer, load

server = FrameServer("glossary")
terms: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "terms.json").read_text("utf-8"))


@server.tool()
def define(term: str) -> str:
    """Return the meaning of a term. Example: origin"""
    if term not in terms:
        raise ToolError(f"There is no term {term!r}; there are: {', '.join(terms)}.")
    return str(terms[term]["meaning"])


@server.tool()
async def find(path: str) -> list[Any]:
    """Return what a JSONPath leads to. Example: $[?@.kind == 'browser'].meaning"""
    await load("python-jsonpath")
    import jsonpath

    return jsonpath.findall(path, terms)
