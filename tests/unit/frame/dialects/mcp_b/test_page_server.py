"""A bundle as a page server of MCP-B: opened by itself, and in a frame."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.page_server.server import page_server
from mcpframe.frame.serving.server import FrameServer
from tests.support.fake_window import STRANGER, FakeWindow, inbound
from tests.support.mcpb import CHANNEL, to_client, to_server
from tests.support.page_rig import Rig, rig
from tests.support.sep import FRAME, HOST

__all__ = ["rig"]

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


async def test_an_unknown_method_is_answered_with_its_code(alone: Client) -> None:
    """Also `server/discover` of a client that names no revision, before `initialize`."""
    assert (await alone.request(1, "server/discover"))["error"]["code"] in (-32601, -32602)
    await alone.ask(INITIALIZE)
    assert (await alone.request(1, "browser/executeTool"))["error"]["code"] == -32601


async def test_what_is_no_json_rpc_is_refused_and_the_next_request_is_answered(rig: Rig, alone: Client) -> None:
    await alone.ask(INITIALIZE)
    before = len(rig.own.posted)
    for payload in ("mcp-sleepy", None, [], {}, {"jsonrpc": "2.0", "id": None, "method": "ping"}):
        rig.own.post(json.dumps(to_server(payload, TAB)), "*")
    assert (await alone.request(1, "ping"))["result"] == {}
    said = [message["payload"] for message, _ in rig.own.posted[before:] if message["direction"] == "server-to-client"]
    assert said == [{"jsonrpc": "2.0", "id": 1, "result": {}}], "no error with null as its id"


async def test_what_is_posted_is_strict_json_rpc(rig: Rig, alone: Client) -> None:
    await alone.ask(INITIALIZE)
    await alone.request(1, "tools/list")
    await alone.request(2, "tools/call", name="nothing", arguments={})
    for message, target in rig.own.posted[1:]:
        if message["direction"] == "server-to-client":
            assert target == FRAME
            assert set(message["payload"]) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})


async def test_a_tool_that_is_added_is_announced_to_all_clients_once(rig: Rig, alone: Client) -> None:
    await alone.ask(INITIALIZE)
    await alone.ask(INITIALIZE)
    before = len(rig.own.posted)
    await alone.request(1, "tools/call", name="grow", arguments={})
    methods = [message["payload"].get("method") for message, _ in rig.own.posted[before:]]
    assert methods.count("notifications/tools/list_changed") <= 1
    names = [tool["name"] for tool in (await alone.request(2, "tools/list"))["result"]["tools"]]
    assert names == ["add", "grow", "more"]


async def test_a_frame_of_mcp_b_pins_the_page_around_it(rig: Rig) -> None:
    """It posts to `*` until then, and after that to no other origin; a client that was early is in the inbox."""
    rig.write(SERVER, "authored_framed")
    posted = rig.inner.when_posted(1)
    task = rig.start("authored_framed:server")
    await posted
    assert (to_client("mcp-server-ready"), "*") in rig.inner.posted
    before = len(rig.inner.posted)
    rig.outer.post(json.dumps(to_server(INITIALIZE, CHANNEL)), FRAME)
    while not (answers := [each for each in rig.inner.posted[before:] if "payload" in each[0]]):
        await rig.inner.when_posted(len(rig.inner.posted) + 1)
    assert {target for _, target in rig.inner.posted[before:]} == {HOST}  # the openings for a later host, too
    assert answers[0][0]["payload"]["result"]["serverInfo"]["name"] == "test"
    assert answers[0][1] == HOST
    assert rig.loader.last_words == (to_client("mcp-server-stopped"), HOST)
    task.cancel()
    await asyncio.wait([task])
    assert rig.inner.posted[-1] == (to_client("mcp-server-stopped"), HOST)


@pytest.mark.parametrize("origins", [[], ["https://elsewhere.example"]])
async def test_a_page_server_for_nobody_is_an_error(rig: Rig, origins: list[str]) -> None:
    with pytest.raises(OriginError):
        await page_server(MCPServer("nobody's"), allowed_origins=origins)
    assert rig.own.posted == []


async def test_a_page_server_in_a_page_of_its_author(rig: Rig) -> None:
    """Tools may be added before any client has connected."""
    server = MCPServer("an author's")
    posted = rig.own.when_posted(1)
    task = asyncio.create_task(page_server(server))
    await posted
    server.add_tool(lambda: "one", name="one")
    client = Client(rig.own, TAB)
    await client.ask(INITIALIZE)
    assert [tool["name"] for tool in (await client.request(1, "tools/list"))["result"]["tools"]] == ["one"]
    task.cancel()
    await asyncio.wait([task])
    said = [message["payload"] for message, _ in rig.own.posted]
    assert said.count("mcp-server-stopped") == 1
    assert said[-1] == "mcp-server-stopped"


async def test_the_browser_capability_and_another_channel(rig: Rig) -> None:
    """The seed's example of the capability negotiation, word for word."""
    browser = {"multiTabSupport": True, "cacheSupported": True, "elicitation": False}
    server = FrameServer("an author's", browser=browser)
    for given, expected in ((None, browser), ({"cacheSupported": False}, {"cacheSupported": False})):
        before = len(rig.own.posted)
        posted = rig.own.when_posted(before + 1)
        task = asyncio.create_task(page_server(server, channel="mine", browser=given))
        await posted
        assert rig.own.posted[before] == (to_client("mcp-server-ready", "mine"), "*")
        rig.own.post(json.dumps(to_server("mcp-check-ready", TAB)), "*")
        answer, _ = await Client(rig.own, "mine").ask(INITIALIZE)
        assert answer["payload"]["result"]["capabilities"]["browser"] == expected
        task.cancel()
        await asyncio.wait([task])
    said = [message for message, _ in rig.own.posted if message["direction"] == "server-to-client"]
    assert {message["channel"] for message in said} == {"mine"}
    with pytest.raises(TypeError):
        FrameServer("an author's", browser={"cacheSupported": object()})


async def test_a_page_that_is_left_answers_what_it_was_asked(rig: Rig) -> None:
    """And nothing twice where it stays after all, as after a download."""
    server, going_on = MCPServer("left"), asyncio.Event()

    @server.tool()
    async def wait() -> str:
        await going_on.wait()
        return "done"

    posted = rig.own.when_posted(1)
    task = asyncio.create_task(page_server(server))
    await posted
    client = Client(rig.own, TAB)
    await client.ask(INITIALIZE)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}
    rig.own.post(json.dumps(to_server(call, TAB)), "*")
    await client.request(2, "tools/list")
    before = len(rig.own.posted)
    for act in rig.leaving:
        act()
        act()
    said = [message["payload"] for message, _ in rig.own.posted[before:]]
    assert [(answer["id"], answer["error"]["code"]) for answer in said] == [(1, -32000)]
    assert said[0]["error"]["data"] == {"navigationInterrupted": True}
    going_on.set()
    called = await client.request(3, "tools/call", name="wait", arguments={})
    assert called["result"]["content"][0]["text"] == "done"
    ids = [message["payload"].get("id") for message, _ in rig.own.posted if isinstance(message["payload"], dict)]
    assert ids.count(1) == 2, "the request and one answer"
    task.cancel()
    await asyncio.wait([task])
    assert rig.leaving == []


# Framed, with a host that comes later


async def test_a_host_of_another_dialect_may_come_after_a_client_such_as_a_hub(rig: Rig) -> None:
    """A hub is a client in the host's window. The host of the view, which waits for the page's call, begins later."""
    rig.write(SERVER, "authored_late_host")
    task = rig.start("authored_late_host:server", allowed_origins=[HOST], dialect_origins={"mcp_apps": ["*"]})
    answer = {"jsonrpc": "2.0", "id": "mcpframe/initialize", "result": {"protocolVersion": "2026-01-26"}}

    async def posted(wanted: Callable[[Any], bool], target: str) -> Any:
        while not (found := [each for each, to in rig.inner.posted if to == target and wanted(each)]):
            await rig.inner.when_posted(len(rig.inner.posted) + 1)
        return found[0]

    async with asyncio.timeout(60):
        await posted(lambda message: message.get("method") == "ui/initialize", "*")
        rig.inner.take(inbound(to_server(INITIALIZE), origin=HOST))
        await posted(lambda message: message.get("payload") == to_client("mcp-server-ready")["payload"], "*")
        await posted(lambda message: isinstance(message.get("payload"), dict), HOST)
        await posted(lambda message: message.get("method") == "ui/initialize", HOST)
        openings = len(rig.inner.posted)
        rig.inner.take(inbound(answer, origin=STRANGER))  # which any origin is allowed to be, without a session
        await asyncio.sleep(0)
        assert len(rig.inner.posted) == openings
        rig.inner.take(inbound(answer, origin=HOST))
        await posted(lambda message: message.get("method") == "ui/notifications/initialized", HOST)
        await posted(lambda message: message == to_client("mcp-server-stopped"), HOST)  # for the hub
    later = [target for _, target in rig.inner.posted[openings:]]
    assert set(later) == {HOST}
    assert rig.loader.last == ("ready", json.dumps({"state": "connected", "origin": HOST}))
    task.cancel()
    await asyncio.wait([task])
