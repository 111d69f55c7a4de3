"""A `Window` of a browser in another event loop: a test's loop is short-lived, the browser's is not.

`DistantPlace` creates its windows in Playwright's loop. Only plain values are passed between the loops,
with `call_soon_threadsafe`, which keeps the order of messages in both directions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import FramedWindow, Framing, Place

T = TypeVar("T")


async def ask(there: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in another thread's loop, and wait for it in this one."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, there))


class DistantPlace:
    """A `Place` of another event loop, for use in this one."""

    def __init__(self, place: Place, there: asyncio.AbstractEventLoop) -> None:
        """Wrap a place.

        Args:
            place: The place in the other loop.
            there: Its loop, which runs in another thread.
        """
        self._place = place
        self._there = there

    def __call__(self, framing: Framing) -> DistantWindow:
        """Return the window for one phase."""
        return DistantWindow(lambda: self._place(framing), self._there)


class DistantWindow:
    """A window of another event loop, for use in this one."""

    def __init__(self, make: Callable[[], FramedWindow], there: asyncio.AbstractEventLoop) -> None:
        self._make = make
        self._there = there
        self._window: FramedWindow | None = None
        self._listening = False

    async def __aenter__(self) -> Self:
        """Create and enter the window in its loop. Raises the errors of both."""
        self._window = await ask(self._there, self._enter())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave the window in its loop."""
        self._listening = False
        await asyncio.shield(ask(self._there, self._inside().__aexit__(None, None, None)))

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen; callbacks run in this loop. Raises `StateError` the second time."""
        if self._listening:
            raise StateError("A DistantWindow listens once: create another one for another session.")
        window = self._inside()
        here = asyncio.get_running_loop()
        self._listening = True

        def hand_over(callback: Callable[..., None], item: object) -> None:
            if self._listening:  # only then this loop is certainly open
                here.call_soon_threadsafe(hand_on, callback, item)

        def hand_on(callback: Callable[..., None], item: object) -> None:
            if self._listening:
                callback(item)

        def start() -> None:
            window.listen(lambda inbound: hand_over(deliver, inbound), lambda left: hand_over(gone, left))

        self._there.call_soon_threadsafe(start)
        return self._stop

    def post(self, text: str, target_origin: str) -> None:
        """Post one message; the order is kept."""
        self._there.call_soon_threadsafe(self._inside().post, text, target_origin)

    def show(self, visible: bool) -> None:
        """Show or hide the framed page; the order with posted messages is kept."""
        self._there.call_soon_threadsafe(self._inside().show, visible)

    def resize(self, width: int | None, height: int | None) -> None:
        """Set the size of the framed page; the order with posted messages is kept."""
        self._there.call_soon_threadsafe(self._inside().resize, width, height)

    async def _enter(self) -> FramedWindow:
        return await self._make().__aenter__()

    def _inside(self) -> FramedWindow:
        if self._window is None:
            raise StateError("Enter the DistantWindow with `async with` first.")
        return self._window

    def _stop(self) -> None:
        self._listening = False
