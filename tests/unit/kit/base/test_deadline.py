"""A deadline with an error of its own."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from mcpframe.kit.base.deadline import within


async def test_a_block_that_takes_too_long_ends_with_the_error_of_its_deadline() -> None:
    cancelled = []

    async def wait() -> None:
        async with within(0.01, lambda: LookupError("waited for nothing")):
            try:
                await anyio.sleep_forever()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    with pytest.raises(LookupError, match="waited for nothing") as caught:
        await wait()
    assert cancelled == [True]
    assert caught.value.__suppress_context__


async def test_a_block_in_time_and_its_own_errors_pass() -> None:
    def expired() -> Exception:
        raise AssertionError

    async with within(60, expired):
        pass
    with pytest.raises(TimeoutError, match="its own"):
        async with within(60, expired):
            raise TimeoutError("its own")
