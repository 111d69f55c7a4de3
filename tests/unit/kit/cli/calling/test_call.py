"""`mcpframe call`: a result that does not fit its tool's output schema is shown, and a call without one says why."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.cli.calling.call import _called
from mcpframe.kit.cli.calling.questions import Questions
from mcpframe.kit.cli.shared.output import Meter
from tests.unit.kit.cli.calling.test_call_deadline import session

INTEGER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ENDLESS = {"type": "object", "properties": {"n": {"type": "string", "pattern": "^(a|a)*$"}}}
TEXT = [types.TextContent(type="text", text="the answer")]


async def called(schema: dict[str, Any], result: types.CallToolResult | MCPError) -> tuple[dict[str, Any], str]:
    async def tools(_: Any, __: Any) -> types.ListToolsResult:
        tool = types.Tool(name="count", input_schema={"type": "object"}, output_schema=schema)
        return types.ListToolsResult(tools=[tool])

    async def count(_: Any, __: Any) -> types.CallToolResult:
        if isinstance(result, MCPError):
            raise result
        return result

    server: Any = Server("counting", on_list_tools=tools, on_call_tool=count)
    return await _called(session(server), "count", [], None, Meter("count"), 10, Questions("here", {}))


@pytest.mark.parametrize(
    ("schema", "result", "words"),
    [
        (INTEGER, types.CallToolResult(content=TEXT), "no structured content"),
        (INTEGER, types.CallToolResult(content=TEXT, structured_content={"n": "x"}), "n: 'x' is not of type 'integer'"),
        ({"type": "objekt"}, types.CallToolResult(content=TEXT, structured_content={}), "the schema is invalid"),
    ],
)
async def test_a_result_that_does_not_fit(schema: dict[str, Any], result: types.CallToolResult, words: str) -> None:
    found, mismatch = await called(schema, result)
    assert found["content"][0]["text"] == "the answer"
    assert words in mismatch
    assert "\n" not in mismatch


@pytest.mark.parametrize(
    ("schema", "result"),
    [
        (INTEGER, types.CallToolResult(content=TEXT, structured_content={"n": 1})),
        (INTEGER, types.CallToolResult(content=TEXT, is_error=True)),
        (ENDLESS, types.CallToolResult(content=TEXT, structured_content={"n": "a" * 80 + "b"})),
    ],
)
async def test_a_result_that_fits_or_is_not_decided(schema: dict[str, Any], result: types.CallToolResult) -> None:
    found, mismatch = await called(schema, result)
    assert found["content"][0]["text"] == "the answer"
    assert mismatch == ""


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (-32000, "The call has no answer: The peer's window is gone; the session is over."),
        (-32602, "The server refuses the call: The peer's window is gone; the session is over."),
    ],
)
async def test_a_session_that_ends_is_no_refusal(code: int, sentence: str) -> None:
    gone = MCPError(code, "The peer's window is gone; the session is over.")
    with pytest.raises(CallError) as raised:
        await called({"type": "object"}, gone)
    assert str(raised.value) == sentence
