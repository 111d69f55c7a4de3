"""Browsers that open pages, and may lose them: `Browsers`; `LocalChromium` is the one of this machine.

Those elsewhere are in `remote`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from mcpframe.kit.browser.devtools.launch import StartedChromium, launch
from mcpframe.kit.browser.devtools.protocol import DevTools


@dataclass(frozen=True)
class OpenTab:
    """An empty tab. It is lost once `devtools.closed` is done, or its target has ended.

    Attributes:
        devtools: its browser's.
        target: its id there.
        context: its own browser context, which is disposed with it; empty for the browser's usual one.
        url: returns the address at which this browser finds a page.
        closing: called when it is closed.
    """

    devtools: DevTools
    target: str
    context: str = ""
    url: Callable[[str], str] = str
    closing: Callable[[], None] = lambda: None

    def close(self) -> asyncio.Future[dict[str, Any]]:
        """Close it; the future is done once the browser has answered."""
        self.closing()
        if self.context:
            return self.devtools.post("Target.disposeBrowserContext", browserContextId=self.context)
        return self.devtools.post("Target.closeTarget", targetId=self.target)


@dataclass(frozen=True)
class BrowserState:
    """How one browser is.

    Attributes:
        devtools: the connection to it; None while there is none.
        tabs: how many tabs are open in it, or being opened.
        connections: how often it was connected.
    """

    devtools: DevTools | None
    tabs: int
    connections: int


class Browsers(Protocol):
    """Where tabs are opened, whichever browser has them."""

    @property
    def is_ready(self) -> bool:
        """Whether a browser is there, or can be started."""
        ...

    @property
    def states(self) -> Sequence[BrowserState]:
        """How each browser is, always in the same order."""
        ...

    async def open_tab(self) -> OpenTab:
        """Open an empty tab.

        Raises:
            BrowserGone: no browser opens it.
        """
        ...

    async def close(self) -> None:
        """Lose all tabs, and end what was started for them."""
        ...


class LocalChromium:
    """`Browsers` in one Chromium of this machine, which is started for the first tab, and again after it has ended.

    Args:
        executable: its program.
        profile: the folder of its profile.
        addresses: host names that are served on this machine, each with its port.
        visible: open a window, for a person.
    """

    def __init__(self, executable: Path, profile: Path, addresses: Mapping[str, int], *, visible: bool = False) -> None:
        self._executable = executable
        self._profile = profile
        self._addresses = addresses
        self._visible = visible
        self._browser: StartedChromium | None = None
        self._tabs: set[str] = set()
        self._starts = 0
        self._starting = asyncio.Lock()

    @property
    def is_ready(self) -> bool:
        return True

    @property
    def states(self) -> Sequence[BrowserState]:
        if self._browser is None or self._browser.gone:
            return [BrowserState(None, 0, self._starts)]
        return [BrowserState(self._browser.devtools, len(self._tabs), self._starts)]

    async def open_tab(self) -> OpenTab:
        return await opened(self._open(await self._started()))

    async def _open(self, browser: StartedChromium) -> OpenTab:
        tabs = self._tabs
        target = await browser.new_tab()
        tabs.add(target)
        return OpenTab(browser.devtools, target, closing=partial(tabs.discard, target))

    async def close(self) -> None:
        async with self._starting:
            if self._browser is not None:
                await self._browser.close()

    async def _started(self) -> StartedChromium:
        async with self._starting:
            if self._browser is not None and self._browser.gone:
                await self._browser.close()
                self._browser = None
            if self._browser is None:
                self._browser = await launch(
                    self._executable, self._profile, addresses=self._addresses, visible=self._visible
                )
                self._tabs = set()
                self._starts += 1
            return self._browser


async def opened(opening: Coroutine[Any, Any, OpenTab]) -> OpenTab:
    """Open a tab. If this is cancelled, the tab is closed once it is open, as no other code has its id."""
    task = asyncio.ensure_future(opening)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: done.cancelled() or done.exception() or done.result().close())
        raise
