"""The hub's stores in the extension, read and written by the service worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.names import TabNumbers
from mcpframe.hub.homes.extension.runtime import Worker

log = logging.getLogger(__name__)

_NUMBERS = "mcpframe:numbers"


class ExtensionStore:
    """`hub.core.interfaces.KeyValues` in `chrome.storage.local`."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def get(self, key: str) -> str | None:
        """Return the text of a key; None if there is none."""
        value = await self._worker.ask("read", key=key, area="local")
        return value if isinstance(value, str) else None

    async def set(self, key: str, value: str) -> None:
        await self._worker.ask("write", key=key, value=value, area="local")

    async def delete(self, key: str) -> None:
        await self._worker.ask("forget", key=key)

    async def keys(self) -> Sequence[str]:
        return [str(key) for key in await self._worker.ask("keys")]


class KeptNumbers:
    """The numbers of tabs, stored until the browser ends: it keeps its tabs while the hub restarts.

    Otherwise a name that an assistant remembers could mean another tab after a restart.
    """

    def __init__(self, worker: Worker) -> None:
        self.numbers = TabNumbers()
        self._worker = worker
        self._changed = asyncio.Event()
        self.numbers.on_new = self._changed.set

    async def load(self) -> None:
        """Load the numbers of the previous hub.

        Raises:
            TabLoadError: They cannot be read.
        """
        text = await self._worker.ask("read", key=_NUMBERS, area="session")
        try:
            if text is not None:
                self.numbers.restore(text)
        except ValueError as error:
            log.warning("The numbers of tabs cannot be read, and begin anew: %s", error)

    async def keep(self) -> None:
        """Store the numbers whenever they change, until this is cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._worker.ask("write", key=_NUMBERS, value=self.numbers.dump(), area="session")
            except TabLoadError as error:
                log.warning("The numbers of tabs could not be stored: %s", error)
