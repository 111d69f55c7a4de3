"""The order in which a page acts on what its peer has posted: nothing begins before the queue has been read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio.lowlevel
import anyio.to_thread
import pytest

from mcpframe import FrameServer
from mcpframe.frame.core.connection import parse_allowed_origins
from mcpframe.frame.core.events import Inbox
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session import read_ahead
from mcpframe.frame.session.read_ahead import ReadAhead
from mcpframe.frame.session.session import open_session
from tests.support.fake_window import FakeWindow, inbound
from tests.support.plain_client import CLIENT
from tests.support.sep import FRAME, HOST, MESSAGES, alone

Json = dict[str, Any]


def request(id_: int, method: str = "tools/call", **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def cancel(id_: int) -> Json:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}


PING = request(99, "ping")
NOTE: Json = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
ANSWER: Json = {"jsonrpc": "2.0", "id": 7, "result": {}}


class Reading:
    """Messages of a peer, and those that were handed over; a request named in `busy` lets others come meanwhile."""

    def __init__(self) -> None:
        self.taken: list[Json] = []
        self.busy: dict[int, list[Json]] = {}
        self.ahead = ReadAhead(self._hand_over)

    def _hand_over(self, message: Json) -> None:
        self.taken.append(message)
        for late in self.busy.get(message.get("id", 0), ()):
            # as a page has it: the browser keeps messages while a tool computes, and it computes a few steps later
            steps = 10
            asyncio.get_running_loop().call_soon(self._later, late, steps)

    def _later(self, message: Json, steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._later, message, steps - 1)
        else:
            self.ahead.take(message)

    async def read(self, *messages: Json) -> list[Json]:
        for message in messages:
            self.ahead.take(message)
        for _ in range(300):
            await asyncio.sleep(0)
        return self.taken


@pytest.mark.parametrize(
    ("posted", "taken"),
    [
        ([request(1)], [request(1)]),
        ([request(1), cancel(1)], []),
        ([request(1), request(2), cancel(1)], [request(2)]),
        ([request(1), cancel(2)], [cancel(2), request(1)]),
        ([request(1), PING], [PING, request(1)]),
        ([request(1), NOTE, request(2), ANSWER], [request(1), NOTE, request(2), ANSWER]),
        ([NOTE, ANSWER, cancel(3)], [NOTE, ANSWER, cancel(3)]),
        ([request(1), cancel(1), request(1)], [request(1)]),
    ],
)
async def test_what_is_queued_is_read_before_a_request_is_handed_over(posted: list[Json], taken: list[Json]) -> None:
    assert await Reading().read(*posted) == taken


async def test_what_comes_while_a_request_computes_is_read_before_the_next() -> None:
    reading = Reading()
    reading.busy = {1: [cancel(2), PING]}
    assert await reading.read(request(1), request(2), request(3)) == [request(1), PING, request(3)]


@pytest.mark.parametrize(("seconds", "turns"), [(0.0005, 2), (0.01, 9)], ids=["short", "long"])
async def test_only_requests_that_take_time_are_each_behind_a_turn_of_the_browser(
    seconds: float, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    now, waited, taken = loop.time(), list[float](), list[Json]()

    def hand_over(message: Json) -> None:
        nonlocal now
        now += seconds
        taken.append(message)

    def after_turn(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
        if callback == ahead._turn_over:  # not another test's, whose queue ends in this loop
            waited.append(now)
        loop.call_soon(callback)

    monkeypatch.setattr(read_ahead, "call_after_turn", after_turn)
    monkeypatch.setattr(loop, "time", lambda: now)
    ahead = ReadAhead(hand_over)
    requests = [request(number) for number in range(7)]
    for each in requests:
        ahead.take(each)
    for _ in range(300):
        await asyncio.sleep(0)
    assert (taken, len(waited)) == (requests, turns)
    ahead.take(request(8))  # after the pause, too, what is behind it is read first
    assert taken == requests


async def test_a_peer_that_never_pauses_delays_a_request_but_does_not_hold_it_back() -> None:
    taken: list[Json] = []
    ahead = ReadAhead(taken.append)
    ahead.take(request(1))
    for _ in range(10_000):
        ahead.take(PING)
        await asyncio.sleep(0)
        if request(1) in taken:
            break
    assert request(1) in taken


async def test_at_the_end_requests_are_dropped_and_answers_are_not() -> None:
    reading = Reading()
    for message in (request(1), ANSWER, request(2)):
        reading.ahead.take(message)
    reading.ahead.close()
    assert await reading.read() == [ANSWER]


@pytest.mark.parametrize("early", [True, False], ids=["inbox", "session"])
async def test_a_call_that_is_cancelled_behind_a_busy_one_never_runs(
    early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FrameServer("busy")
    _, inner = FakeWindow.pair(HOST, FRAME)
    ran: list[int] = []
    while_busy = [cancel(3), request(4, "ping")]

    async def inline(function: Any, *args: Any, **_: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return function(*args)

    monkeypatch.setattr(anyio.to_thread, "run_sync", inline)  # as in a page, which has no threads

    @server.tool()
    def compute(n: int) -> str:
        ran.append(n)
        while while_busy:
            asyncio.get_running_loop().call_soon(inner.take, posted(while_busy.pop(0)))
        return "done"

    def posted(message: Json) -> Any:
        return inbound({"type": "MCP_MESSAGE", "payload": message}, origin=HOST)

    opening = [
        inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], origin=HOST),
        posted(request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=CLIENT)),
        posted({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *(posted(request(n, name="compute", arguments={"n": n})) for n in (2, 3, 5)),
        posted(cancel(5)),
    ]
    if early:
        inner.inbox = Inbox(tuple(opening))
    connection = alone(sep.INNER_TRANSPORT, parse_allowed_origins([HOST]))

    async def page() -> None:
        async with open_session(connection, inner, take_inbox=inner.take_inbox) as session:
            await serve(server, *session.streams)

    serving = asyncio.create_task(page())
    while not inner.listening:
        await anyio.lowlevel.checkpoint()
    for event in () if early else opening:
        inner.take(event)
    answers: list[int] = []
    while not {2, 4} <= set(answers):
        await asyncio.sleep(0)
        answers = [message["payload"]["id"] for message, _ in inner.posted if "result" in message.get("payload", {})]
    assert ran == [2]
    assert sorted(answers) == [1, 2, 4]
    serving.cancel()
    await asyncio.wait([serving])
