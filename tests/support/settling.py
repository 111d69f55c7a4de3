"""An event loop for tests whose code is driven by hand: `settled` waits until nothing happens any more.

anyio's `wait_all_tasks_blocked` isn't enough: it doesn't see callbacks outside of tasks (`call_soon`, callbacks of
futures), and it sleeps for a tenth of a second whenever a task can run.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
from typing import Any


class _Selector(selectors.DefaultSelector):
    """The loop asks it for events in each turn. It may block only if the loop has nothing to run."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[asyncio.Future[None]] = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self.waiting or (timeout is not None and timeout <= 0):
            return super().select(timeout)
        events = super().select(0)
        while self.waiting and not events:
            future = self.waiting.pop()
            if not future.done():
                future.set_result(None)
        return events


class SettlingLoop(asyncio.SelectorEventLoop):
    """A loop for `settled`."""

    def __init__(self) -> None:
        self._waiting = (selector := _Selector()).waiting
        super().__init__(selector)

    async def settled(self) -> None:
        """Wait until the loop would block: nothing happens without a timer, or an event from outside."""
        self._waiting.append(future := self.create_future())
        await future


async def settled() -> None:
    """Wait until nothing happens any more without a timer, or an event from outside."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettlingLoop)
    await loop.settled()


SETTLING: tuple[str, dict[str, Any]] = ("asyncio", {"loop_factory": SettlingLoop})
"""For the fixture `anyio_backend`."""

USUAL: tuple[str, dict[str, Any]] = ("asyncio", {}) if sys.platform == "win32" else SETTLING
"""The same where such a loop can start programs. anyio keeps one loop for all tests of a process while a fixture of the
session needs it: so all have this one."""
