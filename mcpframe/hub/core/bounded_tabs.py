"""The browser's tabs with deadlines: a browser that is gone or silent blocks no call."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from mcpframe.frame.waiting.changes import pause, within
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.interfaces import Tabs
from mcpframe.hub.core.options import HubOptions

log = logging.getLogger(__name__)

T = TypeVar("T")


class BoundedTabs:
    """`Tabs` with deadlines. The browser's errors are logged; after one, or after the deadline, the result is unknown.

    Args:
        options: The hub's deadlines.
    """

    def __init__(self, tabs: Tabs, clock: Clock, options: HubOptions) -> None:
        self._tabs = tabs
        self._clock = clock
        self._options = options

    async def url(self, tab: int) -> str | None:
        """Return the address of a tab; None if unknown."""
        return await self._known(self._tabs.url(tab), "The address of a tab could not be read.")

    async def active(self) -> int | None:
        """Return the tab that the user looks at; None if unknown."""
        return await self._known(self._tabs.active(), "The active tab could not be read.")

    async def open(self, url: str, domain: str) -> int:
        """Open a tab, with the retries of the options.

        Args:
            domain: For the log and the error.

        Raises:
            TabLoadError: It cannot be loaded.
        """
        for retries in range(self._options.load_retries, -1, -1):
            log.info("A tab is opened for %r.", domain)
            try:
                return await within(self._clock, self._options.load_seconds, self._tabs.open(url), TabLoadError)
            except Exception as error:
                if not isinstance(error, TabLoadError):  # the browser is gone, or worse
                    log.exception("A tab could not be opened.")
                if not retries:
                    raise TabLoadError(f"A tab of {domain} could not be loaded: {error}") from error
            await pause(self._clock, self._options.retry_seconds)
        raise AssertionError("unreachable")

    async def _known(self, question: Coroutine[Any, Any, T | None], problem: str) -> T | None:
        try:
            return await within(self._clock, self._options.connect_seconds, question, TabLoadError)
        except Exception:
            log.exception(problem)
            return None
