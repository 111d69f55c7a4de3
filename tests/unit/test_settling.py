"""`settled` waits for all that can happen now, and for nothing that needs time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.settling import SETTLING, settled


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return SETTLING


async def test_callbacks_and_tasks_that_cause_each_other_have_run() -> None:
    loop = asyncio.get_running_loop()
    happened: list[int] = []

    def next_one(number: int) -> None:
        happened.append(number)
        if number == 60:
            return
        if number % 3 == 0:
            loop.call_soon(next_one, number + 1)
        elif number % 3 == 1:
            future = loop.create_future()
            future.add_done_callback(lambda _: next_one(number + 1))
            future.set_result(None)
        else:
            asyncio.ensure_future(asyncio.sleep(0)).add_done_callback(lambda _: next_one(number + 1))

    next_one(0)
    await settled()
    assert happened == list(range(61))


async def test_it_waits_for_no_timer_and_for_several_at_once() -> None:
    happened: list[str] = []
    timer = asyncio.get_running_loop().call_later(3600, happened.append, "late")
    sleeping = asyncio.create_task(asyncio.sleep(3600))
    await asyncio.gather(settled(), settled())
    timer.cancel()
    sleeping.cancel()
    await settled()
    assert happened == []
    assert sleeping.cancelled()
