"""The matrix of bad input and attacks for clients of framed servers, of MCP-B and of plain MCP, in their connection.

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
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.frame.core.events import Closed, Departure, Event, Inbound
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.page_server.clients import iframe_client
from tests.hostile.values import ODD, Record, strangers, unread
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow
from tests.support.mcpb import to_client, to_server

Json = dict[str, Any]
URL = "https://tools.example/server/"
ORIGIN, HOST = "https://tools.example", "https://chat.example"


class Hostile:
    """A framed server, whose answers a test writes.

    Attributes:
        ready: what it says when it is ready.
    """

    ready: Any = "mcp-server-ready"

    def __init__(self) -> None:
        self.place = FakePlace(HOST, self._run)
        self.events: list[Event] = []
        self.asked: list[Json] = []
        self.lies: Callable[[Json], Any] | None = None

    async def _run(self, window: FakeWindow, _: Any) -> None:
        self.window = window
        window.listen(self._hear, lambda departure: None)
        self.say(self.ready)
        await anyio.sleep_forever()

    def wrapped(self, payload: Any) -> Any:
        return to_client(payload)

    def read(self, inbound: Inbound) -> Any:
        return json.loads(inbound.read())["payload"]

    def framing(self, options: Options) -> AbstractAsyncContextManager[TransportStreams]:
        return iframe_client(URL, self.place, options=options, on_event=self.events.append)

    def say(self, payload: Any) -> None:
        self.window.post(json.dumps(self.wrapped(payload)), "*")

    def _hear(self, inbound: Inbound) -> None:
        payload = self.read(inbound)
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
        async with Client(self.framing(Options(**options)), mode="legacy") as client:
            yield client
        assert {target for _, target in self.place.windows[0].posted} == {ORIGIN}


class Plain(Hostile):
    """The same in plain MCP."""

    ready: Any = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}

    def wrapped(self, payload: Any) -> Any:
        return payload

    def read(self, inbound: Inbound) -> Any:
        return json.loads(inbound.read())

    def framing(self, options: Options) -> AbstractAsyncContextManager[TransportStreams]:
        outer = OuterFrame(URL, dialect="plain_mcp", options=options, on_event=self.events.append)
        return outer.connect(self.place)


@pytest.fixture(params=[Hostile, Plain], ids=["mcp_b", "plain_mcp"])
def kind(request: pytest.FixtureRequest) -> type[Hostile]:
    kind: type[Hostile] = request.param
    return kind


@pytest.fixture
def server(kind: type[Hostile]) -> Hostile:
    return kind()


def answers(id_: Any) -> list[Json]:
    return [
        {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": "forged"}]}},
        {"jsonrpc": "2.0", "id": id_, "error": {"code": -32001, "message": "forged", "data": {"a": 1}}},
    ]


def ids_of_others(own: str | int) -> list[Any]:
    """Return ids that are not those of a request, some of which look like those of this client."""
    if isinstance(own, int):
        # Not its text, nor what else `int` reads: the SDK takes that for the id itself.
        looks = [f"{own}.0", f"{own}x", own + 0.5, -own - 1, own + 1000, f"mcpframe/{own}", "mcpframe/ping"]
        return [*looks, 2**53, 10**400, *(odd for odd in ODD if not isinstance(odd, int) or odd != own)]
    prefix = own[: own.index("/") + 1]
    bad = ["", "x", "[", "[1]", "{}", "null", "true", "1.5", '"a', "NaN", "1e400", "9" * 5000, "-", "\0", "n", "s"]
    deep = ["[" * 20_000, "[" * 90 + "]" * 90, '{"a":' * 20_000]
    return [*(prefix + text for text in (*bad, *deep)), prefix[:-1], prefix.upper() + "7", f" {own}", own + "0", *ODD]


async def test_answers_with_other_ids_are_nobodys(server: Hostile, record_property: Record) -> None:
    """Also those that look like this client's: they were not asked for, and some would be an effort to read."""
    lines = 0

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


async def test_results_of_any_shape_are_errors(server: Hostile, record_property: Record) -> None:
    """A call gets an error for each of them, or the result where the SDK takes it for one."""
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


async def test_messages_of_any_shape_change_nothing(server: Hostile, record_property: Record) -> None:
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


async def test_strangers_cannot_speak_for_the_server(server: Hostile, record_property: Record) -> None:
    """Neither before it is ready nor after: not another window of its origin, nor another page in its window."""
    lines = 0

    def lie(asked: Json) -> None:
        nonlocal lines
        window = server.place.windows[0]
        for payload in (server.ready, "mcp-server-stopped", *answers(1), *answers(asked["id"])):
            text = json.dumps(server.wrapped(payload))
            for origin, from_peer in strangers(ORIGIN, HOST):
                window.take(Inbound(origin, from_peer, (lambda t=text: t) if from_peer else unread))
                lines += 1
        server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    server.lies = lie
    async with server.client() as client:
        assert (await client.call_tool("any", {})).content == []
    record_property("lines", lines)


async def test_ten_thousand_tools_and_floods_of_signals(server: Hostile, record_property: Record) -> None:
    tool = {"description": "x" * 100, "inputSchema": {"type": "object"}}

    def lie(asked: Json) -> None:
        for _ in range(5000):
            server.say(server.ready)
            server.say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        server.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    async with server.client() as client:
        server.lies = lie
        assert (await client.call_tool("any", {})).content == []
        listed = {"tools": [{"name": f"tool_{number}", **tool} for number in range(10_000)], "nextCursor": "again"}

        def forged(inbound: Inbound) -> None:
            payload = server.read(inbound)
            server.say({"jsonrpc": "2.0", "id": payload["id"], "result": listed})

        server.window._listeners = [(forged, lambda _: None)]
        for cursor in (None, "again"):
            page = await client.list_tools(cursor=cursor)
            assert (len(page.tools), page.next_cursor) == (10_000, "again")
    record_property("lines", 3)


@pytest.mark.parametrize("end", ["stopped", "replaced", "removed"])
async def test_a_server_that_leaves_in_mid_call_fails_the_call(server: Hostile, end: str) -> None:
    if end == "stopped" and isinstance(server, Plain):
        pytest.skip("plain MCP has no message for it")

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
async def test_a_server_that_is_never_ready_is_an_error_at_the_deadline(server: Hostile, says: Any) -> None:
    async def page(window: FakeWindow, _: Any) -> None:
        def answer(inbound: Inbound) -> None:
            if says is not None:
                window.post(json.dumps(server.wrapped(says)), "*")

        window.listen(answer, lambda departure: None)
        await anyio.sleep_forever()

    server.place = place = FakePlace(HOST, page)
    limits = Options(handshake_timeout=0.3, repeat_interval=0.01)
    with pytest.raises(HandshakeTimeout):
        async with server.framing(limits):
            pass
    assert {target for _, target in place.windows[0].posted} == {ORIGIN}
    assert place.windows[0].removed
