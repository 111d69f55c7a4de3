"""A tool whose output schema is not an object costs clients of earlier revisions nothing but that schema."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp.server.lowlevel import Server

from tests.support.memory import ERAS, connected, text

LIST = {"type": "array", "items": {"type": "integer"}}
OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}}


def server() -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name="numbers", input_schema={"type": "object"}, output_schema=LIST),
                types.Tool(name="number", input_schema={"type": "object"}, output_schema=OBJECT),
            ]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        data: Any = [1, 2] if params.name == "numbers" else {"n": 1}
        return types.CallToolResult(content=[], structured_content=data)

    return Server("lists", on_list_tools=list_tools, on_call_tool=call_tool)


@pytest.mark.parametrize("era", ERAS)
async def test_the_list_and_the_result_fit_the_revision(era: str) -> None:
    async with connected(server(), era) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert schemas == {"numbers": LIST if era == "2026" else None, "number": OBJECT}
        numbers = await client.call_tool("numbers")
        if era == "2026":
            assert numbers.structured_content == [1, 2]
        else:
            assert (numbers.structured_content, text(numbers)) == (None, "[1, 2]")
        assert (await client.call_tool("number")).structured_content == {"n": 1}
