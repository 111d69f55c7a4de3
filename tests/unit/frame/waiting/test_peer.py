"""`Peer`: what its requests end with, and when the other side is told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.errors import TooManyPending
from mcpframe.frame.waiting.peer import NOT_WANTED, TOO_LATE, Overdue, Peer
from tests.support.fake_hub import FakeClock

pytestmark = pytest.mark.anyio


class Gone(Exception):
    """The other side is gone."""


class Rig:
    """A peer whose answers a test gives."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.peer: Peer[int, str] = Peer(itertools.count(1), limit=3, clock=self.clock)
        self.sent: asyncio.Queue[int] = asyncio.Queue()
        self.cancelled: list[tuple[int, str]] = []

    async def asking(self, **options: Any) -> tuple[int, asyncio.Task[str]]:
        def cancel(id_: int, reason: str) -> None:
            self.cancelled.append((id_, reason))

        task = asyncio.create_task(self.peer.ask(self.sent.put_nowait, cancel=cancel, **options))
        return await self.sent.get(), task


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    with anyio.fail_after(60):
        rig = Rig()
        yield rig
    assert len(rig.peer) == 0
    assert rig.clock.pending == 0


async def test_answers_and_errors_come_to_whoever_asked(rig: Rig) -> None:
    (one, first), (two, second) = [await rig.asking(within=5.0) for _ in range(2)]
    assert rig.peer.answered(two, "two")
    assert rig.peer.answered(one, Gone("one"))
    assert not rig.peer.answered(one, "again")
    assert not rig.peer.answered("1", "another type")
    assert await second == "two"
    with pytest.raises(Gone, match="one"):
        await first
    assert rig.cancelled == []


async def test_the_deadline_ends_a_request_and_the_other_side_is_told(rig: Rig) -> None:
    (late, task), (_, other) = await rig.asking(within=5.0), await rig.asking(within=9.0)
    rig.clock.next_timer(rig.clock.now() + 5.0)
    with pytest.raises(Overdue):
        await task
    assert rig.cancelled == [(late, TOO_LATE)]
    assert not rig.peer.answered(late, "too late")
    rig.peer.answered(late + 1, "in time")
    assert await other == "in time"


async def test_progress_starts_the_time_anew_up_to_the_longest(rig: Rig) -> None:
    def progress() -> None: ...

    id_, task = await rig.asking(within=5.0, longest=12.0, on_progress=progress)
    fixed, other = await rig.asking(within=11.0, on_progress=progress)
    for _ in range(2):
        assert not rig.clock.next_timer(rig.clock.now() + 4.0)
        assert rig.peer.progressed(id_) is rig.peer.progressed(fixed) is progress
    assert rig.clock.next_timer(rig.clock.now() + 3.5)
    with pytest.raises(Overdue):
        await other
    assert rig.clock.next_timer(rig.clock.now() + 1.5)
    with pytest.raises(Overdue):
        await task
    assert rig.peer.progressed(id_) is None


async def test_progress_that_nobody_wants_changes_nothing(rig: Rig) -> None:
    id_, task = await rig.asking(within=5.0, longest=60.0)
    rig.clock.next_timer(rig.clock.now() + 4.0)
    assert rig.peer.progressed(id_) is rig.peer.progressed(7) is rig.peer.progressed([]) is None
    assert rig.clock.next_timer(rig.clock.now() + 1.0)
    with pytest.raises(Overdue):
        await task


async def test_cancelling_the_caller_tells_the_other_side(rig: Rig) -> None:
    id_, task = await rig.asking(within=5.0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rig.cancelled == [(id_, NOT_WANTED)]
    assert not rig.peer.answered(id_, "nobody waits")


async def test_an_answer_just_after_the_cancellation_is_ignored(rig: Rig) -> None:
    id_, task = await rig.asking()
    task.cancel()
    rig.peer.answered(id_, "nobody waits")
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_all_fail_at_once_and_later_ones_after_the_end(rig: Rig) -> None:
    asked = [await rig.asking(within=5.0), await rig.asking()]
    rig.peer.fail_all(lambda: Gone("lost"))
    for _, task in asked:
        with pytest.raises(Gone, match="lost"):
            await task
    _, task = await rig.asking()
    rig.peer.close(lambda: Gone("over"))
    with pytest.raises(Gone, match="over"):
        await task
    with pytest.raises(Gone, match="over"):
        await rig.peer.ask(rig.sent.put_nowait)
    assert rig.sent.empty()
    assert rig.cancelled == []


async def test_more_than_the_limit_are_not_sent_and_overdue_ones_do_not_count(rig: Rig) -> None:
    asked = [await rig.asking(within=5.0) for _ in range(3)]
    with pytest.raises(TooManyPending):
        await rig.peer.ask(rig.sent.put_nowait)
    assert rig.sent.empty()
    rig.clock.seconds += 6.0  # the timer is late
    id_, task = await rig.asking()
    rig.peer.answered(id_, "sent")
    assert await task == "sent"
    for _, overdue in asked:
        with pytest.raises(Overdue):
            await overdue


async def test_a_request_that_cannot_be_sent_does_not_wait(rig: Rig) -> None:
    def send(_: int) -> None:
        raise Gone("not sent")

    with pytest.raises(Gone, match="not sent"):
        await rig.peer.ask(send, within=5.0)
    assert rig.cancelled == []


async def test_the_clock_of_the_event_loop_is_the_default() -> None:
    peer: Peer[int, str] = Peer(itertools.count(1))
    with anyio.fail_after(60), pytest.raises(Overdue):
        await peer.ask(lambda _: None, within=0.01)
