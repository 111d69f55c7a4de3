"""A window of another loop: in order both ways, and silent once it is left. The other loop is a thread's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import Framing
from mcpframe.kit.browser.cross_loop_window import DistantPlace, ask
from mcpframe.kit.testing.wire_record import WireRecord
from tests.support.fake_place import FakeFramedWindow
from tests.support.fake_window import FakeWindow

HOST = "https://host.example"
FRAMING = Framing("https://tools.example/pi/", "frame")


async def running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@pytest.fixture
def there() -> Iterator[asyncio.AbstractEventLoop]:
    with start_blocking_portal("asyncio") as portal:
        yield portal.call(running_loop)


async def echo(inner: FakeWindow, framing: Framing) -> None:
    """A framed page that sends back what it gets."""
    loop = asyncio.get_running_loop()
    inner.listen(lambda got: loop.call_soon(inner.post, got.read(), HOST), lambda left: None)
    await asyncio.Event().wait()


async def test_messages_keep_their_order_both_ways(there: asyncio.AbstractEventLoop) -> None:
    made: list[FakeFramedWindow] = []

    def place(framing: Framing) -> FakeFramedWindow:
        made.append(FakeFramedWindow(HOST, framing, echo))
        return made[0]

    record = WireRecord()
    heard: list[int] = []
    threads = set()
    done = asyncio.Event()

    def deliver(inbound: Inbound) -> None:
        threads.add(asyncio.get_running_loop())
        heard.append(json.loads(inbound.read())["n"])
        if len(heard) == 20:
            done.set()

    async with record.recording(DistantPlace(place, there))(FRAMING) as window:
        window.listen(deliver, lambda departure: None)
        await ask(there, asyncio.sleep(0))  # the framed page is there
        for number in range(20):
            window.post(json.dumps({"n": number}), "https://tools.example")
        window.show(True)
        async with asyncio.timeout(60):
            await done.wait()
    assert heard == list(range(20))
    assert threads == {asyncio.get_running_loop()}
    assert (made[0].shown, made[0].removed) == ([True], True)
    lines = [json.loads(line) for line in record.lines().splitlines()]
    assert [line["message"]["n"] for line in lines if line["direction"] == "→"] == list(range(20))
    assert {line["origin"] for line in lines if line["direction"] == "←"} == {"https://tools.example"}


async def test_a_departure_is_heard_and_nothing_after_the_end(there: asyncio.AbstractEventLoop) -> None:
    gone: asyncio.Future[Departure] = asyncio.get_running_loop().create_future()
    made = FakeFramedWindow(HOST, FRAMING, echo)
    record = WireRecord()
    async with record.recording(DistantPlace(lambda framing: made, there))(FRAMING) as window:
        stop = window.listen(lambda inbound: None, gone.set_result)
        with pytest.raises(StateError, match="listens once"):
            window.listen(lambda inbound: None, lambda left: None)
        there.call_soon_threadsafe(made.depart, Departure.REPLACED)
        async with asyncio.timeout(60):
            assert await gone is Departure.REPLACED
        stop()
        there.call_soon_threadsafe(made.depart, Departure.REMOVED)  # a second result would be an error
        await ask(there, asyncio.sleep(0))
    assert '"departure": "replaced"' in record.lines()


async def test_it_is_entered_first(there: asyncio.AbstractEventLoop) -> None:
    window = DistantPlace(lambda framing: FakeFramedWindow(HOST, framing, echo), there)(FRAMING)
    with pytest.raises(StateError, match="Enter the DistantWindow"):
        window.post("{}", HOST)
