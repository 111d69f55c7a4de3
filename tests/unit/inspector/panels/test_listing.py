"""A list that a server does not give leaves the others as they are."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from inspector.panels.listing import entries_or_failure


async def lacks(cursor: str | None) -> Any:
    raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found")


async def refuse(cursor: str | None) -> Any:
    raise MCPError(code=types.INTERNAL_ERROR, message="not today")


async def two_pages(cursor: str | None) -> Any:
    return types.ListPromptsResult(prompts=[types.Prompt(name=cursor or "1")], next_cursor=None if cursor else "2")


async def test_each_list_is_its_own() -> None:
    assert await entries_or_failure(lacks, "resource_templates") == ([], None)
    prompts, failure = await entries_or_failure(two_pages, "prompts")
    assert ([prompt.name for prompt in prompts], failure) == (["1", "2"], None)
    prompts, failure = await entries_or_failure(refuse, "prompts")
    assert prompts == []
    assert "not today" in str(failure)
