"""Browsers that open pages, and may lose them: `Browsers`; `LocalChromium` is the one of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mcpframe.kit.browser.devtools.launch import StartedChromium, launch
from mcpframe.kit.browser.devtools.protocol import DevTools


@dataclass(frozen=True)
class OpenTab:
    """An empty tab. It is lost once `devtools.closed` is done, or its target has ended.

    Attributes:
        devtools: its browser's.
        target: its id there.
    """

    devtools: DevTools
    target: str


class Browsers(Protocol):
    """Where tabs are opened, whichever browser has them."""

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
        self._starting = asyncio.Lock()

    async def open_tab(self) -> OpenTab:
        browser = await self._started()
        opening = asyncio.ensure_future(browser.new_tab())
        try:
            return OpenTab(browser.devtools, await asyncio.shield(opening))
        except asyncio.CancelledError:  # it may still open, and no other code has its id
            opening.add_done_callback(
                lambda done: (
                    done.cancelled()
                    or done.exception()
                    or browser.devtools.post("Target.closeTarget", targetId=done.result())
                )
            )
            raise

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
            return self._browser
