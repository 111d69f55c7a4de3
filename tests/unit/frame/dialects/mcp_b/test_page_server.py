"""A bundle as a page server of MCP-B: opened by itself, and in a frame."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.fake_window import FakeWindow
from tests.support.mcpb import to_client, to_server
from tests.support.page_rig import Rig, bounded, rig
from tests.support.sep import FRAME

__all__ = ["bounded", "rig"]

TAB = "mcp-default"
SERVER = """
    from mcpframe import FrameServer

    server = FrameServer("test", allowed_origins=["https://chat.example"])

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def grow() -> str:
        server.add_tool(add, name="more")
        return "grown"
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"browser": {"multiTabSupport": True}},
        "clientInfo": {"name": "a client", "version": "1"},
    },
}


class Client:
    """A client that posts raw messages to a window, and reads what comes back."""

    def __init__(self, window: FakeWindow, channel: str) -> None:
        self.window = window
        self.channel = channel

    async def ask(self, payload: Any) -> tuple[Any, str]:
        """Post a payload; return the next message of the server, and its target."""
        before = len(self.window.posted)
        self.window.post(json.dumps(to_server(payload, self.channel)), "*")
        while not (said := [m for m in self.window.posted[before:] if m[0].get("direction") == "server-to-client"]):
            await self.window.when_posted(len(self.window.posted) + 1)
        return said[0]

    async def request(self, id_: Any, method: str, **params: Any) -> Any:
        """Make a request, and return what answers it."""
        answer, _ = await self.ask({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        assert answer["payload"]["id"] == id_
        return answer["payload"]


@pytest.fixture
async def alone(rig: Rig) -> Any:
    """A page that was opened by itself, with a client in its window."""
    rig.write(SERVER, "authored_alone")
    rig.framed = False
    posted = rig.own.when_posted(1)
    task = rig.start("authored_alone:server")
    await posted
    yield Client(rig.own, TAB)
    task.cancel()
    await asyncio.wait([task])
    assert rig.own.posted[-1] == (to_client("mcp-server-stopped", TAB), FRAME)


async def test_it_announces_itself_and_answers_each_check(rig: Rig, alone: Client) -> None:
    assert rig.own.posted == [(to_client("mcp-server-ready", TAB), "*")]
    for _ in range(2):
        assert await alone.ask("mcp-check-ready") == (to_client("mcp-server-ready", TAB), FRAME)


async def test_each_client_has_a_session_of_its_own(rig: Rig, alone: Client) -> None:
    """Its host's list of origins is not asked, as nobody is around it; and the page goes on to show what it is."""
    rig.loader.calls.clear()
    first, target = await alone.ask(INITIALIZE)
    assert target == FRAME
    assert first["payload"]["result"]["serverInfo"]["name"] == "test"
    second, _ = await alone.ask({**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "2024-11-05"}})
    assert second["payload"]["result"]["protocolVersion"] == "2024-11-05"
    called = await alone.request(1, "tools/call", name="add", arguments={"a": 1, "b": 2})
    assert called["result"]["content"][0]["text"] == "3"
    assert rig.loader.calls == []
