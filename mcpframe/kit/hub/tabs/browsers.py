"""The hub's browser: a Chromium with its own profile, or a running one that the hub attaches to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from mcpframe.kit.browser.devtools.launch import StartedChromium, launch
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.devtools.websocket import connect


class HubBrowser(Protocol):
    """A browser.

    Attributes:
        headless: Whether its pages are invisible to the user.
        returns: Whether others start it, so that it may come back by itself.
    """

    headless: bool
    returns: bool

    async def start(self) -> DevTools:
        """Start it, restart it, or attach to it.

        Raises:
            KitError: It cannot be started or attached to.
        """
        ...

    async def close(self) -> None:
        """End it, or detach from it. Does nothing if it has not started."""
        ...


class OwnBrowser:
    """A Chromium that the hub starts. It ends with the hub, even if the hub is killed.

    Args:
        executable: Its program.
        profile: The folder of its profile.
        pages: The addresses that it opens at its first start.
    """

    returns = False

    def __init__(self, executable: Path, profile: Path, *, headless: bool, pages: Sequence[str] = ()) -> None:
        self.headless = headless
        self._executable = executable
        self._profile = profile
        self._pages = list(pages)
        self._browser: StartedChromium | None = None

    async def start(self) -> DevTools:
        await self.close()
        pages, self._pages = self._pages, []
        self._browser = await launch(
            self._executable,
            self._profile,
            addresses={},
            visible=not self.headless,
            page=pages[0] if pages else "about:blank",
            muted=self.headless,
        )
        await _open(self._browser.devtools, pages[1:])  # without a window it takes one address only
        return self._browser.devtools

    async def close(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()


class AttachedBrowser:
    """A browser that runs already: the hub closes none of its pages.

    Args:
        address: The address of its DevTools: see `websocket.connect`.
        pages: The addresses to open in it the first time.
    """

    headless = False
    returns = True

    def __init__(self, address: str, *, pages: Sequence[str] = ()) -> None:
        self._address = address
        self._pages = list(pages)
        self._devtools: DevTools | None = None

    async def start(self) -> DevTools:
        await self.close()
        self._devtools = devtools = DevTools(await connect(self._address))
        pages, self._pages = self._pages, []
        await _open(devtools, pages)
        return devtools

    async def close(self) -> None:
        devtools, self._devtools = self._devtools, None
        if devtools is not None:
            await devtools.close()


async def _open(devtools: DevTools, pages: Sequence[str]) -> None:
    await asyncio.gather(*(devtools.command("Target.createTarget", url=url) for url in pages))
