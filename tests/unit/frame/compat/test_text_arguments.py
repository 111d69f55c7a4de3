"""Arguments that may be texts stay the texts that were sent; in mcp 1.x: tests/support/result_contract.py."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from mcpframe.frame.compat.text_arguments import keep_texts

keep_texts()
OptionalText = Optional[str]  # noqa: UP045  the older spelling


def served() -> MCPServer:
    server = MCPServer("test")

    @server.tool()
    def kinds(
        body: str | None = None,
        older: OptionalText = None,
        note: Annotated[str | int, Field(max_length=40)] = "",
        json: Annotated[str, "a name of BaseModel"] | None = None,
        parts: list[int] | None = None,
        anything: Any = None,
    ) -> dict[str, str]:
        values = {"body": body, "older": older, "note": note, "json": json, "parts": parts, "anything": anything}
        return {name: type(value).__name__ for name, value in values.items() if value not in (None, "")}

    return server


@pytest.mark.parametrize("text", ['{"blocks": [1]}', "null", "[1]", "true", "word", "1"])
@pytest.mark.parametrize("name", ["body", "older", "note", "json"])
async def test_a_text_stays_a_text(name: str, text: str) -> None:
    async with Client(served()) as client:
        result = await client.call_tool("kinds", {name: text})
    assert result.structured_content == {name: "str"}


async def test_what_takes_no_text_is_still_read_from_one() -> None:
    async with Client(served()) as client:
        result = await client.call_tool("kinds", {"parts": "[1, 2]", "anything": '{"a": 1}'})
    assert result.structured_content == {"parts": "list", "anything": "dict"}
