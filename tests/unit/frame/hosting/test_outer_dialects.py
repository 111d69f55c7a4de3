"""The outer frame in another dialect than its own: around a framed server, around an assistant, and what it refuses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.connection import Connection, Options, parse_allowed_origins
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, StateError, UnexpectedOrigin
from mcpframe.frame.core.places import Framing
from mcpframe.frame.dialects.available import dialects, inner_candidates
from mcpframe.frame.dialects.complete import client_candidates, outer_dialects
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.session import open_session, transport
from tests.support.fake_place import FakePlace
from tests.support.fake_window import STRANGER, FakeWindow, inbound
from tests.support.sep import FRAME, HOST

URL = f"{FRAME}/pi/"
SPOKEN = [each.name for each in outer_dialects()]
FIRST = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
PONG = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
ALLOWED = parse_allowed_origins([HOST])


def adder() -> MCPServer:
    server = MCPServer("adder")
    server.add_tool(lambda a, b: a + b, name="add", description="add", structured_output=False)
    return server


async def framed_server(window: FakeWindow, framing: Framing) -> None:
    page = Connection(inner_candidates(TRANSPORT, ALLOWED, about={"name": "p", "version": "1"}))
    async with open_session(page, window) as session:
        await serve(adder(), *session.streams)


class Assistant:
    """A framed page that posts what Ozwell's does, in its order, each once the one before is answered.

    Attributes:
        heard: the host's messages, each with its origin.
    """

    def __init__(self, window: FakeWindow, framing: Framing) -> None:
        self.heard: list[tuple[dict[str, Any], str]] = []
        self.told = "*"
        self._window = window
        self._changed = asyncio.Event()
        window.listen(self._hear, lambda _: None)

    def _hear(self, event: Any) -> None:
        self.heard.append((json.loads(event.read()), event.origin))
        self._changed.set()

    def post(self, message: dict[str, Any]) -> None:
        self._window.post(json.dumps(message, separators=(",", ":")), self.told)

    async def answered(self, id_: int | str) -> dict[str, Any]:
        with anyio.fail_after(30):
            while True:
                for message, origin in self.heard:
                    if message.get("id") == id_ and "method" not in message:
                        assert origin == HOST
                        return message
                self._changed.clear()
                await self._changed.wait()

    async def run(self) -> str:
        self.post({"source": "ozwell-chat-widget", "type": "ready"})
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "o", "version": "1"}}
        self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info})
        assert (await self.answered(1))["result"]["serverInfo"]["name"] == "adder"
        self.told = HOST
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.post({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        (tool,) = (await self.answered(2))["result"]["tools"]
        params = {"name": tool["name"], "arguments": {"a": 1, "b": 2}}
        self.post({"jsonrpc": "2.0", "id": "call_x", "method": "tools/call", "params": params})
        text: str = (await self.answered("call_x"))["result"]["content"][0]["text"]
        return text


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_around_a_framed_server(name: str, mode: str) -> None:
    place = FakePlace(HOST, framed_server)
    async with asyncio.timeout(60), Client(OuterFrame(URL, dialect=name).connect(place), mode=mode) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text == "3"  # type: ignore[union-attr]
    (window,) = place.windows
    assert window.removed
    assert {target for _, target in window.posted} == {FRAME}


@pytest.mark.parametrize("name", [each.name for each in outer_dialects() if each.initializes or each.inner_client])
async def test_a_server_around_a_framed_client(name: str) -> None:
    candidates = client_candidates(ALLOWED, name)
    texts: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def assistant(window: FakeWindow, framing: Framing) -> None:
        async with Client(transport(Connection(candidates), window)) as client:
            result = await client.call_tool("add", {"a": 1, "b": 2})
            texts.set_result(result.content[0].text)  # type: ignore[union-attr]
            await anyio.sleep_forever()

    async with asyncio.timeout(60), OuterFrame(URL, dialect=name).connect(FakePlace(HOST, assistant)) as streams:
        serving = asyncio.ensure_future(serve(adder(), *streams))
        assert await texts == "3"
        serving.cancel()
        await asyncio.wait([serving])


async def test_an_assistant_written_by_hand_is_served() -> None:
    text: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def page(window: FakeWindow, framing: Framing) -> None:
        text.set_result(await Assistant(window, framing).run())
        await anyio.sleep_forever()

    place = FakePlace(HOST, page)
    async with asyncio.timeout(60), OuterFrame(URL, dialect="plain_mcp").connect(place) as streams:
        serving = asyncio.ensure_future(serve(adder(), *streams))
        assert await text == "3"
        serving.cancel()
        await asyncio.wait([serving])
    (window,) = place.windows
    assert {target for _, target in window.posted} == {FRAME}


@pytest.mark.parametrize(("origin", "from_peer"), [(STRANGER, True), (FRAME, False), ("null", True)])
async def test_strangers_are_neither_heard_nor_answered(origin: str, from_peer: bool) -> None:
    events: list[Any] = []

    async def page(window: FakeWindow, framing: Framing) -> None:
        outer = window.peer
        assert outer
        for message in (FIRST, PONG):
            outer.take(inbound(message, origin=origin, from_peer=from_peer))
        await anyio.sleep_forever()

    place = FakePlace(HOST, page)
    frame = OuterFrame(URL, dialect="plain_mcp", options=Options(handshake_timeout=0.2), on_event=events.append)
    with pytest.raises(HandshakeTimeout, match="ping of MCP"):
        async with frame.connect(place):
            raise AssertionError
    (window,) = place.windows
    assert [message for message, _ in window.posted if "result" in message] == []
    assert {target for _, target in window.posted} <= {FRAME}
    wrong = [event for event in events if isinstance(getattr(event, "error", None), UnexpectedOrigin)]
    assert bool(wrong) == from_peer


def test_a_dialect_that_cannot_be_spoken_is_refused() -> None:
    for name in ("telex", *(each.name for each in dialects() if each.host_api)):
        with pytest.raises(StateError, match=f"{name}.*plain_mcp"):
            OuterFrame(URL, dialect=name)
    with pytest.raises(StateError, match="leave out session_id"):
        OuterFrame(URL, dialect="plain_mcp", session_id="5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10")


async def test_a_dialect_without_a_setup_has_none() -> None:
    place = FakePlace(HOST, framed_server)
    with pytest.raises(StateError, match="has no setup"):
        async with OuterFrame(URL, dialect="plain_mcp").setup(place):
            raise AssertionError
    assert place.windows == []
