"""The read stream of a session: order, its end, its close, and a reader that is cancelled."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from mcpframe.frame.session.incoming import Incoming


async def test_messages_come_in_order_and_then_the_end() -> None:
    stream = Incoming()
    for item in (1, 2):
        assert stream.put(item)
    assert len(stream) == 2
    stream.end()
    assert not stream.put(3)
    assert [item async for item in stream] == [1, 2]
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()


@pytest.mark.parametrize(
    ("act", "error"), [(Incoming.end, anyio.EndOfStream), (Incoming.close, anyio.ClosedResourceError)]
)
async def test_a_reader_that_waits_gets_a_message_and_hears_of_the_end(act, error) -> None:
    stream = Incoming()
    reader = asyncio.create_task(stream.receive())
    await asyncio.sleep(0)
    stream.put("message")
    assert await reader == "message"
    reader = asyncio.create_task(stream.receive())
    await asyncio.sleep(0)
    act(stream)
    with pytest.raises(error):
        await reader


async def test_a_cancelled_reader_loses_no_message() -> None:
    stream = Incoming()
    reader = asyncio.create_task(stream.receive())
    await asyncio.sleep(0)
    stream.put("message")
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await stream.receive() == "message"


async def test_a_reader_that_finds_messages_lets_others_run() -> None:
    stream, ran = Incoming(), []
    for item in range(3):
        stream.put(item)
    asyncio.get_running_loop().call_soon(ran.append, "other")
    await stream.receive()
    assert ran == ["other"]


async def test_nothing_is_kept_for_a_reader_that_has_gone() -> None:
    stream = Incoming()
    async with stream:
        stream.put("unread")
    assert not stream.put("late")
    assert not len(stream)
    with pytest.raises(anyio.ClosedResourceError):
        await stream.receive()
