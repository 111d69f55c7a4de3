"""A place without a browser: every framing gets a pair of fake windows, and an inner page that a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self
from urllib.parse import urlsplit

from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.places import Framing
from tests.support.fake_window import FakeWindow

InnerPage = Callable[[FakeWindow, Framing], Awaitable[None]]


class FakeFramedWindow(FakeWindow):
    """The outer page's view of a framed page, which runs from `listen` until the window is left.

    Attributes:
        framing: what was wanted.
        inner: the framed page's view.
        shown: every `show` there was.
        sizes: every `resize` there was.
        removed: whether the window was left.
    """

    def __init__(self, host: str, framing: Framing, page: InnerPage) -> None:
        super().__init__(host)
        parts = urlsplit(framing.url)
        self.framing = framing
        self.inner = FakeWindow(f"{parts.scheme}://{parts.netloc}")
        self.inner.peer, self.peer = self, self.inner
        self.shown: list[bool] = []
        self.sizes: list[tuple[int | None, int | None]] = []
        self.removed = False
        self._resized = asyncio.Event()
        self._page = page
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.removed = True
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])
            if not self._running.cancelled():
                self._running.result()

    def listen(self, deliver: object, gone: object) -> Callable[[], None]:
        stop = super().listen(deliver, gone)  # type: ignore[arg-type]
        self._running = asyncio.ensure_future(self._run())
        return stop

    async def _run(self) -> None:
        await self._page(self.inner, self.framing)

    def show(self, visible: bool) -> None:
        self.shown.append(visible)

    def resize(self, width: int | None, height: int | None) -> None:
        self.sizes.append((width, height))
        self._resized.set()

    async def resized_to(self, height: int) -> None:
        """Wait until the frame has a height."""
        while not self.sizes or self.sizes[-1][1] != height:
            self._resized.clear()
            await self._resized.wait()

    def depart(self, departure: Departure) -> None:
        """Let the framed page go away."""
        self.peer_departs(departure)


class FakePlace:
    """A place in a page of `host`; `windows` are those it gave, in order."""

    def __init__(self, host: str, page: InnerPage) -> None:
        self.windows: list[FakeFramedWindow] = []
        self._host = host
        self._page = page

    def __call__(self, framing: Framing) -> FakeFramedWindow:
        window = FakeFramedWindow(self._host, framing, self._page)
        self.windows.append(window)
        return window
