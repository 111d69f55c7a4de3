"""Lists of servers: all pages, and errors in one line."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.server_lists import list_all, list_or_problem


async def refuse(cursor: str | None) -> Any:
    raise MCPError(code=-32603, message="no tools today.")


async def invalid(cursor: str | None) -> Any:
    return types.ListToolsResult.model_validate({"tools": [{"name": 1}]})


async def test_an_error_of_the_server_is_one_of_the_call() -> None:
    with pytest.raises(CallError, match=r"answers with an error where its tools are listed: no tools today\.$"):
        await list_all(refuse, "tools")


async def test_a_list_that_is_not_of_mcp_is_one_of_the_call() -> None:
    with pytest.raises(CallError, match=r"list of resource templates is not one of MCP \(tools\.0"):
        await list_all(invalid, "resource_templates")


async def test_each_list_is_its_own() -> None:
    async def lacks(cursor: str | None) -> Any:
        raise MCPError(code=-32601, message="Method not found")

    async def empty(cursor: str | None) -> Any:
        return types.ListPromptsResult(prompts=[types.Prompt(name="a")])

    assert await list_or_problem(lacks, "resource_templates") == ([], "")
    assert await list_or_problem(empty, "prompts") == ([{"name": "a"}], "")
    assert await list_or_problem(refuse, "prompts", offered=None) == ([], "")
    items, problem = await list_or_problem(refuse, "prompts")
    assert items == []
    assert problem == "The server answers with an error where its prompts are listed: no tools today."
    items, problem = await list_or_problem(invalid, "tools")
    assert items == []
    assert "not one of MCP" in problem
