"""Clients of the hub over ports, and many of them over one port of native messaging."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcpframe.hub.core.interfaces import ON_THIS_MACHINE, Caller, CallRequest
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.serving.native_clients import NativeClients, begin_of, end_of, frames_of
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer
from tests.support.fake_hub import ENVELOPE, FakePort, HubWorld, hub_world, text_result, tool
from tests.support.settling import settled

ADD = "website_tool_shop_example_tab1_add"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": ADD, "arguments": {}}}


class Port:
    """A client's port, and the client behind it."""

    def __init__(self, clients: HubClients, *origin: str) -> None:
        self.posted: list[Any] = []
        self.is_open = True
        self.breaks = False
        self._clients = clients
        self.is_taken = clients.connected(self, *origin)

    def post(self, text: str) -> None:
        if self.breaks:
            raise OSError("the port is closed")
        self.posted.append(json.loads(text))

    def close(self) -> None:
        self.is_open = False

    async def says(self, *messages: Any) -> Any:
        for message in messages:
            self._clients.received(self, message if isinstance(message, str) else json.dumps(message))
        await settled()
        return self.posted[-1] if self.posted else None

    async def begins(self) -> Port:
        await self.says({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        await self.says({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def ends(self) -> None:
        self._clients.closed(self)
        await settled()


@asynccontextmanager
async def served(
    most: int = 3, options: HubOptions | None = None
) -> AsyncIterator[tuple[HubWorld, HubClients, FakePort]]:
    async with hub_world(options) as world:
        page = world.page(1, "https://shop.example/", tool("add"))
        server = HubServer(world.hub)
        clients = HubClients(server, most)
        async with server.running(), clients.running():
            await settled()
            yield world, clients, page


async def test_each_port_is_a_session_and_its_end_cancels_its_calls() -> None:
    async with served() as (world, clients, page):
        one, other = await Port(clients).begins(), await Port(clients).begins()
        await one.says(CALL)
        await other.says(CALL)
        page.answers(text_result("5"), 1)
        await settled()
        assert other.posted[-1]["result"]["content"][0]["text"] == "5"
        assert all(each.get("id") != 7 for each in one.posted)
        await one.ends()
        assert page.posted[-1]["method"] == "notifications/cancelled"
        world.page(2, "https://shop.example/", tool("add"))
        await settled()
        assert other.posted[-1]["method"] == "notifications/tools/list_changed"
        assert len(clients) == 1
        last = await Port(clients).begins()
    assert (other.is_open, last.is_open) == (False, False)


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_who_has_to_consent_is_told_which_client_asks(era: str) -> None:
    asked: list[Caller] = []

    async def consents(request: CallRequest) -> bool:
        asked.append(request.client)
        return False

    async with served(options=HubOptions(consents=consents)) as (_, clients, _):
        for origin in ((), ("https://chat.example",), ("chrome-extension://abc",)):
            port = Port(clients, *origin)
            if era == "handshake":
                await port.begins()
            answer = await port.says(CALL if era == "handshake" else {**CALL, "params": {**CALL["params"], **ENVELOPE}})
            assert answer["error"]["data"]["reason"] == "CallDenied"
    assert asked == [
        Caller(ON_THIS_MACHINE, "t 1"),
        Caller("https://chat.example", "t 1"),
        Caller("chrome-extension://abc", "t 1"),
    ]


async def test_what_is_no_message_is_ignored_and_a_request_that_cannot_be_read_is_answered() -> None:
    async with served() as (_, clients, _):
        port = await Port(clients).begins()
        before = list(port.posted)
        noise = [{"type": "keep-alive", "timestamp": 1}, "[", 5, None, [], {"jsonrpc": "2.0"}, {"jsonrpc": "1"}]
        await port.says(*noise, {"jsonrpc": "2.0", "method": 5})
        assert port.posted == before
        deep = '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":' + '{"a":' * 200 + "1" + "}" * 201
        for message, id_ in (({"jsonrpc": "2.0", "id": 1, "method": 5}, 1), (deep, 3)):
            answer = await port.says(message)
            assert (answer["id"], answer["error"]["code"]) == (id_, -32600)
        assert "tools" in (await port.says({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}))["result"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1e999"])
async def test_a_number_that_is_not_finite_never_reaches_a_page_as_something_else(number: str) -> None:
    async with served() as (_, clients, page):
        port = await Port(clients).begins()
        text = json.dumps({**CALL, "params": {"name": ADD, "arguments": {"a": [0]}}}).replace("[0]", f"[{number}]")
        answer = await port.says(text)
        assert answer["id"] == 7
        assert answer["error"]["code"] in (-32600, -32602)
        assert page.calls == []


async def test_an_answer_that_is_too_long_for_its_port_is_an_error_and_not_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numbers are longer as the hub writes them: `1e15` has 18 characters."""
    monkeypatch.setattr("mcpframe.hub.core.limits.ANSWER_BYTES", 2000)
    async with served() as (_, clients, page):
        port = await Port(clients).begins()
        for text in ("x" * 3000, "½" * 1500):
            await port.says(CALL)
            page.answers(text_result(text))
            await settled()
            assert (port.posted[-1]["id"], port.posted[-1]["error"]["code"]) == (7, -32603)
        await port.says(CALL)
        page.answers(text_result("5"))
        await settled()
        assert port.posted[-1]["result"]["content"][0]["text"] == "5"


async def test_there_is_room_for_so_many_and_a_port_that_breaks_makes_room() -> None:
    async with served(most=2) as (_, clients, _):
        one, _ = await Port(clients).begins(), await Port(clients).begins()
        late = Port(clients)
        assert (late.is_taken, late.is_open) == (False, False)
        one.breaks = True
        await one.says({"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
        assert (len(clients), one.is_open) == (1, False)
        assert Port(clients).is_taken


async def test_many_sessions_share_a_port_of_native_messaging() -> None:
    async with served() as (_, clients, page):
        frames: list[Any] = []
        native = NativeClients(clients, lambda text: frames.append(json.loads(text)))

        def says(session: str, message: Any) -> None:
            for frame in frames_of(session, json.dumps(message), 10):
                native.received(json.dumps(frame))

        for session in "ab":
            native.received(json.dumps(begin_of(session)))
            says(session, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
            says(session, CALL)
        await settled()
        assert len(page.calls) == 2
        native.received(json.dumps(end_of("a")))
        await settled()
        assert page.posted[-1]["method"] == "notifications/cancelled"
        page.answers(text_result("5"), 1)
        await settled()
        assert (frames[-1]["session"], json.loads(frames[-1]["text"])["id"]) == ("b", 7)
        before = len(frames)
        for noise in (
            "[",
            "5",
            "{}",
            '{"session":5}',
            '{"session":"nobody","text":"{}"}',
            '{"session":"nobody","end":""}',
        ):
            assert native.received(noise) is None
        assert native.received('{"state":{"http":null}}') == {"http": None}
        native.received('{"session":"b","text":5}')
        await settled()
        assert "The session has ended" in frames[-1]["end"]
        assert (len(frames), len(clients)) == (before + 1, 0)
        native.received(json.dumps(begin_of("c")))
        assert len(clients) == 1
        native.closed()
        assert len(clients) == 0


async def test_ids_are_those_of_stdio_and_one_in_use_is_refused() -> None:
    async with served() as (_, clients, page):
        port = await Port(clients).begins()
        answer = await port.says('{"jsonrpc":"2.0","id":1e3,"method":"ping"}')
        assert answer == {"jsonrpc": "2.0", "id": 1000, "result": {}}
        await port.says(CALL)
        for refused in (await port.says({**CALL, "id": 7.0}), await port.says({**CALL, "method": "notifications/x"})):
            assert (refused["id"], refused["error"]["code"]) == (7, -32600)
        page.answers(text_result("5"))
        await settled()
        assert port.posted[-1]["result"]["content"][0]["text"] == "5"
