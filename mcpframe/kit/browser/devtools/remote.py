"""`Browsers` elsewhere: running Chromiums, by the addresses of their DevTools.

Every tab has a browser context of its own: storage, cookies and processes that no other tab shares. It is disposed with
the tab, and by the browser once the connection ends. Tabs go to the browser with the fewest. A browser that is lost, or
is not there yet, is tried again, at growing intervals.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.address import DevToolsAddress
from mcpframe.kit.browser.devtools.browsers import BrowserState, OpenTab, opened
from mcpframe.kit.browser.devtools.fulfilled import FulfilledSites
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.devtools.websocket import connect

logger = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two attempts to connect."""

_RETURN_SECONDS = 20.0
"""Seconds that a tab waits for a lost browser, if there is no other: a container starts again within them."""

_ALIVE_SECONDS = 20.0
"""Seconds between two commands to an idle browser. Balancers cut idle connections, often after a minute, and a machine
that is gone does not close its connections."""


class RemoteBrowsers:
    """`Browsers` at several addresses.

    Args:
        addresses: the addresses of their DevTools: see `DevToolsAddress`.
        hosts: host names that are served on this machine, each with its port.
        most: the most tabs of one browser.

    Raises:
        ValueError: an address is none; the message does not contain it.
    """

    def __init__(self, addresses: Sequence[str], hosts: Mapping[str, int], most: int) -> None:
        self._sites = FulfilledSites(hosts)
        self._most = most
        self._changed = asyncio.Event()
        self._remotes = [_Remote(address, self._sites, self._changed.set) for address in addresses]
        self._keeping: list[asyncio.Task[None]] = []

    @property
    def is_ready(self) -> bool:
        return any(remote.is_connected for remote in self._remotes)

    @property
    def states(self) -> Sequence[BrowserState]:
        return [
            BrowserState(remote.devtools, remote.tabs if remote.is_connected else 0, remote.connections)
            for remote in self._remotes
        ]

    async def open_tab(self) -> OpenTab:
        if not self._keeping:
            self._keeping = [asyncio.create_task(remote.keep()) for remote in self._remotes]
        until = asyncio.get_running_loop().time() + _RETURN_SECONDS
        while True:
            self._changed.clear()
            refusals: list[BrowserGone] = []
            connected = [remote for remote in self._remotes if remote.is_connected]
            for remote in sorted(connected, key=lambda remote: remote.tabs):
                if remote.tabs >= self._most:
                    continue
                try:
                    return await remote.open_tab()
                except BrowserGone as error:
                    if remote.is_connected:  # else it is lost, which is not its answer
                        refusals.append(error)
            waited_for = [remote for remote in self._remotes if remote.is_connecting]
            lost = [remote for remote in self._remotes if remote.connections and not remote.is_connected]
            if not waited_for and (refusals or not lost):
                raise self._none(refusals)
            try:
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
            except TimeoutError:
                raise self._none(refusals) from None

    async def close(self) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        await self._sites.close()

    def _none(self, refusals: Sequence[BrowserGone]) -> BrowserGone:
        failures = [str(error) for error in refusals]
        failures += [str(remote.failure) for remote in self._remotes if remote.failure is not None]
        if any(remote.is_connected and remote.tabs >= self._most for remote in self._remotes):
            failures.append(f"The browsers have {self._most} pages each, the most that is allowed: give further ones.")
        return BrowserGone(" ".join(dict.fromkeys(failures)) or "No browser answers: try again later.")


class _Remote:
    """One browser.

    Attributes:
        failure: why it is not connected; None if it is, or is tried for the first time.
        connections: how often it was connected.
    """

    def __init__(self, address: str, sites: FulfilledSites, changed: Callable[[], None]) -> None:
        self._place = DevToolsAddress.parse(address)
        self._address = address
        self._sites = sites
        self._changed = changed
        self._devtools: DevTools | None = None
        self.failure: BrowserGone | None = None
        self.connections = 0
        self._tabs: set[object] = set()

    @property
    def tabs(self) -> int:
        """How many tabs it has, with those that are being opened."""
        return len(self._tabs)

    @property
    def devtools(self) -> DevTools | None:
        """The connection to it; None if there is none."""
        return None if self._devtools is None or self._devtools.closed.done() else self._devtools

    @property
    def is_connected(self) -> bool:
        return self.devtools is not None

    @property
    def is_connecting(self) -> bool:
        """Whether it is tried for the first time, so that nothing is known of it."""
        return self._devtools is None and self.failure is None

    async def keep(self) -> None:
        """Connect, and again when the connection is lost, until cancelled."""
        now = asyncio.get_running_loop().time
        pause = _FIRST_PAUSE
        while True:
            begun = now()
            try:
                devtools = await self._connect()
            except BrowserGone as error:
                self._failed(error)
            else:
                await self._kept(devtools)
                self._failed(BrowserGone(f"The browser at {self._place} has ended, or its connection was cut."))
            if now() - begun > _LONGEST_PAUSE:
                pause = _FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def open_tab(self) -> OpenTab:
        """Open a tab in a context of its own.

        Raises:
            BrowserGone: it is lost, or refuses.
        """
        assert self._devtools is not None
        return await opened(self._open(self._devtools))

    async def _open(self, devtools: DevTools) -> OpenTab:
        tabs, tab = self._tabs, object()  # a lost browser has lost its tabs: the next connection has another set
        tabs.add(tab)

        def left() -> None:
            tabs.discard(tab)
            self._changed()

        try:
            created = await devtools.command("Target.createBrowserContext", disposeOnDetach=True)
            context = str(created["browserContextId"])
            try:
                target = await devtools.command("Target.createTarget", url="about:blank", browserContextId=context)
            except BrowserGone:
                devtools.post("Target.disposeBrowserContext", browserContextId=context)
                raise
        except BaseException as error:
            left()
            if isinstance(error, BrowserGone):
                raise BrowserGone(f"The browser at {self._place} opens no page: {error}") from error
            raise
        return OpenTab(devtools, str(target["targetId"]), context, self._sites.url, left)

    async def _connect(self) -> DevTools:
        devtools = DevTools(await connect(self._address))
        try:
            await self._sites.begin(devtools)
        except BaseException as error:
            await devtools.close()
            if isinstance(error, BrowserGone):
                raise BrowserGone(f"The browser at {self._place} cannot be used for a bridge: {error}") from error
            raise
        return devtools

    async def _kept(self, devtools: DevTools) -> None:
        """Return when a connection is lost, or has not answered for a minute."""
        if self.failure is not None:
            logger.warning("The browser at %s is connected.", self._place)
        self._devtools, self.failure, self._tabs = devtools, None, set()
        self.connections += 1
        self._changed()
        try:
            while not devtools.closed.done():
                await asyncio.wait([devtools.closed], timeout=_ALIVE_SECONDS)
                with suppress(BrowserGone):
                    await devtools.command("Browser.getVersion")
        finally:
            self._devtools = None
            await devtools.close()

    def _failed(self, error: BrowserGone) -> None:
        if self.failure is None:
            logger.warning("%s It is tried again.", error)
        self.failure = error
        self._changed()
