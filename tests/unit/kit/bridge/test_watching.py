"""When a page that computes without a pause is ended."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcpframe.kit.bridge.chromium import busy_page
from mcpframe.kit.bridge.chromium.busy_page import BusyWatch


class Page:
    """A page whose turns are given by hand unless it is free, and a watch of it."""

    def __init__(self, limit: float, *, free: bool = False) -> None:
        self.free = free
        self.asked: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()
        self.awaited = True
        self.blocked: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.watch = BusyWatch(self.turn, self.blocked.set_result, limit)
        self.watch.start(lambda: self.awaited)

    def turn(self) -> asyncio.Future[Any]:
        turn: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self.free:
            turn.set_result(None)
        self.asked.put_nowait(turn)
        return turn

    async def ended(self) -> None:
        assert self.watch._task
        await self.watch._task


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_page, "_INTERVAL", 0.01)
    monkeypatch.setattr(busy_page, "_AFTER_CANCELLATION", 0.01)


async def test_a_page_that_has_turns_is_left_alone_until_nobody_waits() -> None:
    page = Page(3600, free=True)
    for _ in range(3):
        await page.asked.get()
    page.awaited = False
    await page.ended()
    assert not page.blocked.done()


async def test_a_page_without_a_turn_is_ended_at_the_limit() -> None:
    page = Page(0.02)
    assert await page.blocked >= 0.02
    await page.ended()
    assert page.asked.qsize() == 1


async def test_a_cancellation_shortens_the_limit() -> None:
    page = Page(3600)
    await page.asked.get()
    page.awaited = False
    page.watch.cancelled()
    assert await page.blocked < 3600


async def test_a_page_that_answers_after_a_cancellation_lives() -> None:
    page = Page(3600)
    turn = await page.asked.get()
    page.awaited = False
    page.watch.cancelled()
    page.free = True
    turn.set_result(None)
    await page.ended()
    assert not page.blocked.done()


async def test_what_reaches_the_page_only_after_its_cancellation_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(3600)
    turn = await page.asked.get()
    page.awaited = False
    monkeypatch.setattr(busy_page, "_AFTER_CANCELLATION", 3600)
    page.watch.cancelled()
    monkeypatch.setattr(busy_page, "_AFTER_CANCELLATION", 0.01)
    turn.set_result(None)
    await page.asked.get()
    assert await page.blocked < 3600


async def test_who_asks_after_a_cancellation_gets_the_whole_limit() -> None:
    page = Page(0.2)
    await page.asked.get()
    page.awaited = False
    page.watch.cancelled()
    page.awaited = True
    assert await page.blocked >= 0.2


async def test_no_limit_no_questions() -> None:
    page = Page(0)
    assert page.watch._task is None
    page.watch.stop()
