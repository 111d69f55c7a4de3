"""Following lists and resources, in both protocol eras, at a server in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError

from inspector.session.updates import Updates
from mcpframe import FrameServer

NOTE = "note://one"
PATIENCE = 60.0


def make_server() -> FrameServer[Any]:
    server: FrameServer[Any] = FrameServer("changing")

    @server.resource(NOTE)
    def note() -> str:
        return "a note"

    @server.tool()
    async def write() -> None:
        await server.resource_updated(NOTE)

    @server.tool()
    async def grow(ctx: Context) -> None:
        server.add_tool(lambda: None, name="grown")
        await ctx.notify_tools_changed()

    return server


class Rig:
    """Updates at a client, and what they tell."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.lists: list[str] = []
        self.told = 0
        self._changed = asyncio.Event()
        self.updates = Updates(self._on_list)
        self.updates.tell(NOTE, self._on_update)

    def _on_list(self, which: str) -> None:
        self.lists.append(which)
        self._changed.set()

    def _on_update(self) -> None:
        self.told += 1
        self._changed.set()

    async def wait_for_change(self) -> None:
        with anyio.fail_after(PATIENCE):
            await self._changed.wait()
        self._changed.clear()


@asynccontextmanager
async def rigged(era: str, server: MCPServer[Any] | None = None) -> AsyncIterator[Rig]:
    rigs: list[Rig] = []

    async def on_message(message: Any) -> None:
        params = getattr(message, "params", None)
        rigs[0].updates.note(message.method, str(getattr(params, "uri", "")))

    async with Client(server or make_server(), mode=era, message_handler=on_message, cache=None) as client:
        rigs.append(rig := Rig(client))
        await rig.updates.begin(client)
        yield rig
        await rig.updates.end()


@pytest.fixture(params=["auto", "legacy"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with rigged(request.param) as made:
        yield made


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_resource_is_followed_until_it_is_not(rig: Rig) -> None:
    updates = rig.updates
    await updates.follow(NOTE)
    assert updates.follows(NOTE)
    assert updates.problem(NOTE) == ""
    await rig.client.call_tool("write")
    await rig.wait_for_change()
    assert updates.count(NOTE) == 1
    await updates.unfollow(NOTE)
    assert not updates.follows(NOTE)
    await rig.client.call_tool("write")
    assert updates.count(NOTE) == 1


async def test_a_list_that_changed_is_told() -> None:
    async with rigged("auto") as rig:
        await rig.client.call_tool("grow")
        await rig.wait_for_change()
        assert rig.lists == ["tools"]


def test_a_list_that_changed_is_told_by_a_notification() -> None:
    told: list[str] = []
    Updates(told.append).note("notifications/prompts/list_changed", "")
    assert told == ["prompts"]


async def test_nothing_is_followed_without_a_connection() -> None:
    updates = Updates(lambda _: None)
    await updates.follow(NOTE)
    assert updates.problem(NOTE) == "Not connected."
    assert not updates.follows(NOTE)
    await updates.unfollow(NOTE)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_the_end_of_the_session_ends_it(rig: Rig) -> None:
    await rig.updates.follow(NOTE)
    await rig.updates.end()
    assert not rig.updates.follows(NOTE)
    assert rig.told


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_server_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    async with rigged("legacy") as rig:

        async def refuse(uri: str) -> None:
            raise MCPError(code=-32601, message="Not here")

        monkeypatch.setattr(rig.client, "subscribe_resource", refuse)
        await rig.updates.follow(NOTE)
        assert rig.updates.problem(NOTE) == "Error -32601: Not here"
        assert not rig.updates.follows(NOTE)
