"""The place of a tool's exception, in its error result."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from mcpframe.frame.core.raised import RAISED, place_of
from tests.support.memory import connected

pytestmark = pytest.mark.anyio

SOURCE = """\
import json

def look(key):
    return {}[key]

def read(text):
    return json.loads(text)
"""


@pytest.fixture
def authored() -> dict[str, Any]:
    """The names of an author's file, as a page has it."""
    names: dict[str, Any] = {}
    exec(compile(SOURCE, "/mcpframe/server/lib/keys.py", "exec"), names)
    return names


def raised(act: Any, *arguments: object) -> BaseException:
    try:
        act(*arguments)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError


def test_it_is_the_last_line_of_the_author(authored: dict[str, Any]) -> None:
    key = raised(authored["look"], "x")
    assert place_of(key) == {"type": "KeyError", "file": "lib/keys.py", "line": 4}
    text = raised(authored["read"], "{")
    assert place_of(text) == {"type": "JSONDecodeError", "file": "lib/keys.py", "line": 7}
    assert place_of(ExceptionGroup("two", [key, text])) == place_of(key)
    assert place_of(ValueError()) == {"type": "ValueError"}


@pytest.mark.parametrize("era", ["2025", "2026"])
@pytest.mark.parametrize("kind", ["MCPServer", "lowlevel"])
async def test_the_result_names_it(authored: dict[str, Any], era: str, kind: str) -> None:
    server: Any
    if kind == "MCPServer":
        server = MCPServer("s")
        server.tool()(authored["look"])

        @server.tool()
        async def refuse() -> str:
            raise ToolError("not today")

    else:
        server = Server("s")

        async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            if params.name == "refuse":
                return types.CallToolResult(content=[], is_error=True)
            return authored[params.name](**(params.arguments or {}))  # type: ignore[no-any-return]

        server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    async with connected(server, era) as client:
        failed = await client.call_tool("look", {"key": "x"})
        assert failed.is_error
        assert (failed.meta or {})[RAISED] == {"type": "KeyError", "file": "lib/keys.py", "line": 4}
        meant = await client.call_tool("refuse", {})
        assert meant.is_error
        assert RAISED not in (meant.meta or {})
