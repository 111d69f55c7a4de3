"""The matrix of bad input and attacks for a page server of MCP-B, as far as its connection decides.

    line                                                        what must happen
    JSON-RPC with members of any shape, in any order            an error or nothing; the server goes on
    strangers, other channels and directions, its own echo      nothing
    floods of clients, of cancellations, of checks              bounded; the newest client is served
    prototype keys, messages too deep                           refused, and whoever waits hears of it

After each of them a good call works, and nothing was posted to another origin than the page's own.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mcpframe.frame.core.events import Inbound
from mcpframe.frame.session.client_routes import Routes
from mcpframe.frame.session.many_clients import MOST
from tests.hostile.values import ODD, POISON, Record, strangers_are_dropped, unread
from tests.support.fake_window import STRANGER
from tests.support.mcpb import to_client, to_server
from tests.support.page_rig import Rig, rig
from tests.support.sep import FRAME, HOST
from tests.unit.frame.dialects.mcp_b.test_page_server import INITIALIZE, SERVER, TAB, Client, alone

__all__ = ["alone", "rig"]


Json = dict[str, Any]
META = "io.modelcontextprotocol/protocolVersion"


def request(method: Any, id_: Any = "odd", **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def notification(method: Any, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def odd_messages() -> list[Any]:
    """Return payloads, of which none is what a client sends."""
    lines: list[Any] = [*ODD, "mcp-check-ready ", "mcp-server-ready", "mcp-server-stopped", "mcp-check-ready\0"]
    for odd in ODD:
        lines += [
            {"jsonrpc": odd, "id": 1, "method": "ping"},
            request("ping", odd),
            request(odd),
            {"jsonrpc": "2.0", "id": "odd", "method": "ping", "params": odd},
            {"jsonrpc": "2.0", "id": "odd", "result": odd},
            {"jsonrpc": "2.0", "id": "odd", "error": odd},
            {"jsonrpc": "2.0", "id": odd, "result": {}},
            {"jsonrpc": "2.0", "id": odd, "error": {"code": odd, "message": odd}},
            notification("notifications/progress", progressToken=odd, progress=odd),
            notification("notifications/cancelled", requestId=odd, reason=odd),
            notification("notifications/initialized", _meta=odd),
            notification(odd),
            request("initialize", protocolVersion=odd, capabilities=odd, clientInfo=odd),
            request("tools/call", name=odd, arguments=odd),
            request("tools/call", name="add", arguments={"a": odd, "b": odd}),
            request("tools/call", name="add", arguments={"a": 1, "b": 2}, _meta=odd),
            request("tools/call", name="add", arguments={"a": 1, "b": 2}, _meta={"progressToken": odd}),
            request("tools/list", cursor=odd),
            request("server/discover", _meta=odd),
            request("server/discover", _meta={META: odd}),
            request("tools/list", _meta={META: odd, "io.modelcontextprotocol/clientInfo": odd}),
            request("resources/read", uri=odd),
            request("logging/setLevel", level=odd),
            request("completion/complete", ref=odd, argument=odd),
        ]
    return lines


def tell(rig: Rig, message: Any) -> None:
    """Post a message in the page, as any script of it can."""
    text = json.dumps(message)
    rig.own.take(Inbound(FRAME, True, lambda: text))


def sent(rig: Rig, since: int = 0) -> list[Any]:
    """Return the payloads that the server has posted."""
    return [message["payload"] for message, _ in rig.own.posted[since:] if message["direction"] == "server-to-client"]


async def works(rig: Rig, client: Client) -> None:
    """Connect another client and call a tool: the server goes on, and speaks to its own origin only."""
    for id_, message in (("hello", {**INITIALIZE, "id": "hello"}), ("good", ADD)):
        tell(rig, to_server(message, TAB))
        while not any(isinstance(payload, dict) and payload.get("id") == id_ for payload in sent(rig)):
            await rig.own.when_posted(len(rig.own.posted) + 1)
    answers = [payload for payload in sent(rig) if isinstance(payload, dict) and payload.get("id") == "good"]
    assert answers[-1]["result"]["structuredContent"] == {"result": 5}
    said = [target for message, target in rig.own.posted[1:] if message["direction"] == "server-to-client"]
    assert set(said) == {FRAME}


ADD = request("tools/call", "good", name="add", arguments={"a": 2, "b": 3})


@pytest.mark.parametrize("early", [True, False])
async def test_odd_messages_end_nothing(rig: Rig, alone: Client, early: bool, record_property: Record) -> None:
    """Each alone, before any client has come, or with one that has; the server outlives it."""
    if not early:
        await alone.ask(INITIALIZE)
    lines = odd_messages()
    for message in lines:
        tell(rig, to_server(message, TAB))
        await asyncio.sleep(0)
    await works(rig, alone)
    record_property("lines", len(lines))


async def test_strangers_are_dropped_unread(rig: Rig, alone: Client, record_property: Record) -> None:
    """Frames in the page, pages that opened it and pages of its own origin: they have other windows."""
    lines = await strangers_are_dropped(rig.own.take, lambda: works(rig, alone), origin=FRAME, host=HOST)
    record_property("lines", lines)


async def test_what_is_for_others_is_noise(rig: Rig, alone: Client, record_property: Record) -> None:
    """Also what the server itself has posted, and what a script forges in its name: only clients read that."""
    await alone.ask(INITIALIZE)
    envelope = to_server(request("tools/list"), TAB)
    lines: list[Any] = [
        {**envelope, member: odd}
        for member in ("channel", "type", "direction")
        for odd in [*ODD, [envelope[member]], {"toString": envelope[member]}, f" {envelope[member]}"]
    ]
    lines += [{name: value for name, value in envelope.items() if name != member} for member in envelope]
    lines += [to_server(request("tools/list"), channel) for channel in ("mcp-iframe", "MCP-DEFAULT", "mcp-default\0")]
    forged = (
        "mcp-server-stopped",
        "mcp-server-ready",
        request("tools/list"),
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    )
    lines += [to_client(payload, TAB) for payload in forged]
    lines += [request("tools/list"), json.dumps(envelope), [envelope], {"MCP": envelope}]
    before = len(rig.own.posted)
    for message in lines:
        tell(rig, message)
    tell(rig, to_server(request("ping", "last"), TAB))
    await rig.own.when_posted(before + 1)
    assert sent(rig, before) == [{"jsonrpc": "2.0", "id": "last", "result": {}}]
    await works(rig, alone)
    record_property("lines", len(lines))


async def test_prototype_keys_and_depth_are_refused_and_answered(
    rig: Rig, alone: Client, record_property: Record
) -> None:
    await alone.ask(INITIALIZE)
    keys: list[Any] = [*POISON, [{"a": {"__proto__": 1}}], "\ud800"]
    for number, odd in enumerate(keys):
        for members in ({"name": "add", "arguments": {"a": odd}}, {"name": odd}, {"_meta": odd}, {"_meta": {"x": odd}}):
            answer = await alone.request(f"key {number}", "tools/call", **members)
            assert answer["error"]["code"] == -32600
            tell(rig, to_server(notification("notifications/message", **members), TAB))
    await works(rig, alone)
    record_property("lines", 8 * len(keys))


async def test_floods_of_clients_and_checks(rig: Rig, alone: Client, record_property: Record) -> None:
    """Nobody learns that a client has left: of very many the newest are served, and each gets an answer."""
    many = 20 * MOST
    for number in range(many):
        tell(rig, to_server({**INITIALIZE, "id": number}, TAB))
        tell(rig, to_server("mcp-check-ready", TAB))
        tell(rig, to_server(notification("notifications/cancelled", requestId=number), TAB))
    await works(rig, alone)
    assert sent(rig).count("mcp-server-ready") == many + 1
    record_property("lines", 3)


async def test_ids_of_two_clients_that_collide(rig: Rig, alone: Client) -> None:
    """Each request gets its answer. Whose it is says its id only, so that clients have to choose ids of their own."""
    for _ in range(2):
        await alone.ask(INITIALIZE)
    before = len(rig.own.posted)
    for number in (1, 2):
        call = request("tools/call", 1, name="add", arguments={"a": number, "b": number})
        tell(rig, to_server(call, TAB))
    while len(sent(rig, before)) < 2:
        await rig.own.when_posted(len(rig.own.posted) + 1)
    results = [answer["result"]["structuredContent"]["result"] for answer in sent(rig, before)]
    assert sorted(results) == [2, 4]
    await works(rig, alone)


async def test_a_client_s_tables_do_not_grow(record_property: Record) -> None:
    """A cancelled request need not be answered, and a peer may cancel or answer what it was never asked."""
    routes = Routes(MOST)
    routes.inbound(INITIALIZE)
    (client,) = routes.clients
    routes.outbound(client, {"jsonrpc": "2.0", "id": 0, "result": {}})
    for number in range(1000):
        routes.inbound(request("tools/list", number))
        routes.inbound(notification("notifications/cancelled", requestId=number))
        routes.inbound(notification("notifications/cancelled", requestId=number))
        routes.inbound({"jsonrpc": "2.0", "id": f"guessed {number}", "result": {}})
        routes.inbound(notification("notifications/progress", progressToken=f"guessed {number}"))
    assert client.pending == {}
    assert routes.clients == [client]
    record_property("lines", 4)


# In a frame


async def test_a_framed_page_server_in_bad_company(rig: Rig, record_property: Record) -> None:
    """It has other dialects beside it until its page has spoken; then it posts to that page's origin, and no other."""
    rig.write(SERVER, "authored_framed_attacks")
    posted = rig.inner.when_posted(1)
    task = rig.start("authored_framed_attacks:server")
    await posted

    def say(message: Any, origin: str = HOST, *, peer: bool = True) -> None:
        text = json.dumps(message)
        rig.inner.take(Inbound(origin, peer, (lambda: text) if peer and origin == HOST else unread))

    lies = [
        to_server(payload, channel)
        for payload in ("mcp-check-ready", INITIALIZE, request("tools/list"))
        for channel in (TAB, "mcp-iframe")
    ]
    strangers = [(FRAME, True), (STRANGER, True), ("null", True), (HOST, False), (STRANGER, False)]
    # Of the page itself, what is for its other window, in the other direction, or none of MCP-B.
    noise = [message for message in lies if message["channel"] == TAB]
    noise += [to_client(payload) for payload in ("mcp-server-ready", "mcp-server-stopped", request("tools/list"))]
    noise += [
        to_server(payload) for payload in (*ODD, "mcp-server-stopped", {"jsonrpc": "2.0", "id": 1.5, "method": "x"})
    ]
    for _ in range(2):
        for origin, peer in strangers:
            for message in lies:
                say(message, origin, peer=peer)
        for message in noise:
            say(message)
    await asyncio.sleep(0)
    assert {target for message, target in rig.inner.posted if "channel" in message} == {"*"}
    told = [message for message in rig.inner.posted if message[0].get("type") == "mcpframe-origin-refused"]
    assert told == [({"type": "mcpframe-origin-refused", "origin": FRAME}, FRAME)]  # the first stranger, once
    before = len(rig.inner.posted)
    say(to_server("mcp-check-ready"))
    lines = odd_messages()
    for message in lines:
        say(to_server(message))
    for origin, peer in strangers:
        for message in lies:
            say(message, origin, peer=peer)
    say(to_server({**INITIALIZE, "id": "hello"}))
    say(to_server(ADD))
    answers: list[Any] = []
    while not any(isinstance(answer, dict) and answer.get("id") == "good" for answer in answers):
        await rig.inner.when_posted(len(rig.inner.posted) + 1)
        answers = [message.get("payload") for message, _ in rig.inner.posted[before:]]
    assert {target for _, target in rig.inner.posted[before:]} == {HOST}
    task.cancel()
    await asyncio.wait([task])
    assert rig.inner.posted[-1] == (to_client("mcp-server-stopped"), HOST)
    record_property("lines", 3 * len(strangers) * len(lies) + 2 * len(noise) + len(lines))
