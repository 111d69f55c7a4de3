"""The matrix of bad input and attacks for clients of page servers, as far as their connection decides.

    line                                                        what must happen
    answers with ids of others, guessed, of any shape, twice    nobody's; the client goes on
    results of wrong types, messages of any shape               an error for whoever waits, or nothing
    a server that is never ready, stops, is reloaded            an error at the deadline, or at once
    floods of signals, ten thousand tools                       the client goes on

Nothing is posted to another origin than the server's.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.frame.core.events import Closed, Departure, Event, Inbound
from mcpframe.frame.page_server.clients import iframe_client
from tests.hostile.values import ODD, Record, strangers, unread
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow
from tests.support.mcpb import to_client, to_server

Json = dict[str, Any]
URL = "https://tools.example/server/"
ORIGIN, HOST = "https://tools.example", "https://chat.example"


class Hostile:
    """A framed page server, whose answers a test writes."""

    def __init__(self) -> None:
        self.place = FakePlace(HOST, self._run)
        self.events: list[Event] = []
        self.asked: list[Json] = []
        self.lies: Callable[[Json], Any] | None = None

    async def _run(self, window: FakeWindow, _: Any) -> None:
        self.window = window
        window.listen(self._hear, lambda departure: None)
        self.say("mcp-server-ready")
        await anyio.sleep_forever()

    def say(self, payload: Any) -> None:
        self.window.post(json.dumps(to_client(payload)), "*")

    def _hear(self, inbound: Inbound) -> None:
        payload = json.loads(inbound.read())["payload"]
        if not isinstance(payload, dict) or not {"id", "method"} <= payload.keys():
            return
        self.asked.append(payload)
        if payload["method"] == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            version = payload["params"]["protocolVersion"]
            about = {"name": "hostile", "version": "1"}
            result: Json = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
        elif payload["method"] == "tools/call" and self.lies is not None:
            self.lies(payload)
            return
        else:
            result = {"tools": []} if payload["method"] == "tools/list" else {"content": []}
        self.say({"jsonrpc": "2.0", "id": payload["id"], "result": result})

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[Client]:
        limits = Options(**options)
        streams = iframe_client(URL, self.place, options=limits, on_event=self.events.append)
        async with Client(streams, mode="legacy") as client:
            yield client
        assert {target for _, target in self.place.windows[0].posted} == {ORIGIN}


def answers(id_: Any) -> list[Json]:
    return [
        {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": "forged"}]}},
        {"jsonrpc": "2.0", "id": id_, "error": {"code": -32001, "message": "forged", "data": {"a": 1}}},
    ]


def ids_of_others(own: str) -> list[Any]:
    """Return ids that are not those of a request, some of which begin as those of this client do."""
    prefix = own[: own.index("/") + 1]
    bad = ["", "x", "[", "[1]", "{}", "null", "true", "1.5", '"a', "NaN", "1e400", "9" * 5000, "-", "\0", "n", "s"]
    deep = ["[" * 20_000, "[" * 90 + "]" * 90, '{"a":' * 20_000]
    return [*(prefix + text for text in (*bad, *deep)), prefix[:-1], prefix.upper() + "7", f" {own}", own + "0", *ODD]


async def test_answers_with_other_ids_are_nobodys(record_property: Record) -> None:
    """Also those that look like this client's: they were not asked for, and some would be an effort to read."""
    server, lines = Hostile(), 0

    def lie(asked: Json) -> None:
        nonlocal lines
        for id_ in ids_of_others(asked["id"]):
            forged = answers(id_)
            token = {"progressToken": id_, "progress": 1}
            forged.append({"jsonrpc": "2.0", "method": "notifications/progress", "params": token})
            forged.append({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}})
            for message in forged:
                server.say(message)
            lines += len(forged)
        for _ in range(3):
            server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    server.lies = lie
    async with server.client() as client:
        for _ in range(2):
            result = await client.call_tool("any", {}, progress_callback=_progress)
            assert (result.content, result.is_error) == ([], False)
        assert (await client.list_tools()).tools == []
    record_property("lines", lines // 2 + 2)


async def _progress(*told: Any) -> None:
    raise AssertionError(told)


ODD_RESULTS: list[Any] = [
    *[{"result": odd} for odd in ODD],
    *[{"error": odd} for odd in ODD],
    *[{"error": {"code": odd, "message": odd}} for odd in ODD],
    *[{"result": {"content": odd}} for odd in ODD],
    *[{"result": {"content": [odd]}} for odd in ODD],
    {"result": {"__proto__": {"polluted": 1}}},
    {"result": {"content": [], "constructor": {"prototype": {}}}},
    {"result": {"content": [{"type": "text", "text": "\ud800"}]}},
    {"result": json.loads('{"a":' * 120 + "1" + "}" * 120)},
    {"result": {}, "error": {"code": 1, "message": "both"}},
    {"error": {"code": -32001, "message": "Tab not found", "data": {"name": "TabNotFound"}}},
]


async def test_results_of_any_shape_are_errors(record_property: Record) -> None:
    """A call gets an error for each of them, or the result where the SDK takes it for one."""
    server = Hostile()
    remaining = list(ODD_RESULTS)
    server.lies = lambda asked: server.say({"jsonrpc": "2.0", "id": asked["id"], **remaining.pop(0)})
    async with server.client() as client:
        for line in ODD_RESULTS:
            try:
                with anyio.fail_after(60):
                    result = await client.call_tool("any", {})
            except (MCPError, ValueError):
                continue
            assert isinstance(result.content, list), line
        assert (await client.list_tools()).tools == []
    record_property("lines", len(ODD_RESULTS))


async def test_messages_of_any_shape_change_nothing(record_property: Record) -> None:
    server = Hostile()
    messages: list[Any] = [*ODD, "mcp-server-ready", "mcp-check-ready", "mcp-server-ready" * 2]
    for odd in ODD:
        for method in ("notifications/tools/list_changed", "notifications/message", "sampling/createMessage", odd):
            messages.append({"jsonrpc": "2.0", "method": method, "params": odd})
            messages.append({"jsonrpc": "2.0", "id": odd, "method": method, "params": {"level": odd, "messages": odd}})
        messages.append([{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": odd, "method": "ping"}])

    def lie(asked: Json) -> None:
        for message in messages:
            server.say(message)
        server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    server.lies = lie
    async with server.client() as client:
        assert (await client.call_tool("any", {})).content == []
        lying = [
            {"type": "mcp", "channel": channel, "direction": direction, "payload": "mcp-server-stopped"}
            for channel, direction in (("mcp-default", "server-to-client"), ("mcp-iframe", "client-to-server"))
        ]
        for message in (*lying, to_server("mcp-server-stopped"), {"type": "mcp-server-stopped"}, "mcp-server-stopped"):
            server.window.post(json.dumps(message), "*")
        assert (await client.list_tools()).tools == []
    record_property("lines", len(messages) + 5)


async def test_strangers_cannot_speak_for_the_server(record_property: Record) -> None:
    """Neither before it is ready nor after: not another window of its origin, nor another page in its window."""
    server = Hostile()
    lines = 0

    def lie(asked: Json) -> None:
        nonlocal lines
        window = server.place.windows[0]
        for payload in ("mcp-server-ready", "mcp-server-stopped", *answers(1), *answers(asked["id"])):
            text = json.dumps(to_client(payload))
            for origin, from_peer in strangers(ORIGIN, HOST):
                window.take(Inbound(origin, from_peer, (lambda t=text: t) if from_peer else unread))
                lines += 1
        server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    server.lies = lie
    async with server.client() as client:
        assert (await client.call_tool("any", {})).content == []
    record_property("lines", lines)


async def test_ten_thousand_tools_and_floods_of_signals(record_property: Record) -> None:
    server = Hostile()
    tool = {"description": "x" * 100, "inputSchema": {"type": "object"}}

    def lie(asked: Json) -> None:
        for _ in range(5000):
            server.say("mcp-server-ready")
            server.say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    async with server.client() as client:
        server.lies = lie
        assert (await client.call_tool("any", {})).content == []
        listed = {"tools": [{"name": f"tool_{number}", **tool} for number in range(10_000)], "nextCursor": "again"}

        def forged(inbound: Inbound) -> None:
            payload = json.loads(inbound.read())["payload"]
            server.say({"jsonrpc": "2.0", "id": payload["id"], "result": listed})

        server.window._listeners = [(forged, lambda _: None)]
        for cursor in (None, "again"):
            page = await client.list_tools(cursor=cursor)
            assert (len(page.tools), page.next_cursor) == (10_000, "again")
    record_property("lines", 3)


@pytest.mark.parametrize("end", ["stopped", "replaced", "removed"])
async def test_a_server_that_leaves_in_mid_call_fails_the_call(end: str) -> None:
    server = Hostile()

    def leave(asked: Json) -> None:
        if end == "stopped":
            server.say("mcp-server-stopped")
            server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})
        else:
            server.place.windows[0].depart(Departure.REPLACED if end == "replaced" else Departure.REMOVED)

    server.lies = leave
    async with server.client() as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("any", {})
        assert failed.value.code == -32000
    assert isinstance(server.events[-1], Closed)


@pytest.mark.parametrize("says", [None, "mcp-server-stopped", {"jsonrpc": "2.0", "id": "guessed"}])
async def test_a_server_that_is_never_ready_is_an_error_at_the_deadline(says: Any) -> None:
    async def page(window: FakeWindow, _: Any) -> None:
        def answer(inbound: Inbound) -> None:
            if says is not None:
                window.post(json.dumps(to_client(says)), "*")

        window.listen(answer, lambda departure: None)
        await anyio.sleep_forever()

    place = FakePlace(HOST, page)
    limits = Options(handshake_timeout=0.3, repeat_interval=0.01)
    with pytest.raises(HandshakeTimeout):
        async with iframe_client(URL, place, options=limits):
            pass
    assert {target for _, target in place.windows[0].posted} == {ORIGIN}
    assert place.windows[0].removed
