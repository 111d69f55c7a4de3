"""The call of a check, with servers in this process."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest
from mcp import Client
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcpframe import FrameServer
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.publish.bundle_checks.tried_call import Absent, TriedCall, to_be_tried, try_call


class Seats(BaseModel):
    seats: int


server = FrameServer("travel")


@server.tool()
async def book(context: Context) -> str:
    """Ask the user, over and over."""
    answer = await context.elicit("How many seats?", Seats)
    return answer.action


@server.tool()
async def wait() -> str:
    await asyncio.Event().wait()
    return "never"


@server.tool()
async def look() -> str:
    return "there"


@server.tool()
async def broken() -> str:
    raise MCPError(code=-32000, message="It is closed.\nToday.")


async def tried(*names: str, mode: Literal["auto", "legacy"] = "auto") -> TriedCall:
    absent = Absent()
    client = Client(server, mode=mode, elicitation_callback=absent.elicit, sampling_callback=absent.sample)
    async with client:
        tools = await list_all(client.list_tools, "tools")
        chosen = sorted((tool for tool in tools if tool["name"] in names), key=lambda tool: names.index(tool["name"]))
        return await try_call(client, chosen, absent, 0.2)


def test_a_tool_that_changes_nothing_is_tried_first_and_a_destructive_one_never() -> None:
    hints = {"send": None, "delete": {"destructiveHint": True}, "look": {"readOnlyHint": True, "destructiveHint": True}}
    tools = [{"name": name, "annotations": hint} for name, hint in hints.items()]
    assert [tool["name"] for tool in to_be_tried(tools)] == ["look", "send"]


async def test_a_tool_that_answers_is_timed() -> None:
    call = await tried("look")
    assert (call.tool, call.asking, call.findings) == ("look", (), ())
    assert call.milliseconds > 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_asks_its_user_is_said_and_another_one_is_called(mode: Literal["auto", "legacy"]) -> None:
    call = await tried("book", "look", mode=mode)
    assert (call.tool, call.asking, call.findings) == ("look", ("book",), ())
    assert (await tried("book", mode=mode)).findings == ()


async def test_a_slow_tool_is_a_warning() -> None:
    call = await tried("wait", "look")
    [finding] = call.findings
    assert (call.tool, finding.severity, finding.subject) == ("", "warning", "tool wait")
    assert "--timeout" in finding.remedy


async def test_a_call_that_fails_is_an_error() -> None:
    [finding] = (await tried("broken")).findings
    assert (finding.severity, finding.subject) == ("error", "tool broken")
    assert finding.message == "A call fails (It is closed)."
