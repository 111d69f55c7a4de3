"""The tabs open at the start of the hub: the first lists of tools wait for them, for a few seconds.

Clients ask for the list at once, and not all of them ask again after a change. Pages without tools send nothing, so a
hub beside such pages waits for the whole time. After that no list waits.
"""

from __future__ import annotations

import asyncio
import logging

from mcpframe.frame.waiting.changes import Changes, within
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.frame_numbers import page_tab
from mcpframe.hub.core.interfaces import Tabs
from mcpframe.hub.core.names import UNKNOWN, domain_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.registry import ToolRegistry

log = logging.getLogger(__name__)


class FirstTabs:
    """The tabs open at the start.

    Attributes:
        settled: Set once all have listed their tools, or the time is over.
    """

    def __init__(self, tabs: Tabs, clock: Clock, options: HubOptions) -> None:
        self._tabs = tabs
        self._clock = clock
        self._options = options
        self.settled = asyncio.Event()

    async def wait(self, changes: Changes, registry: ToolRegistry) -> None:
        """Wait for them, and set `settled`."""
        until = self._clock.now() + self._options.first_seconds
        try:
            tabs = await within(self._clock, self._options.first_seconds, self._tabs.list(), TabLoadError)
            missing = {tab for tab, url in tabs.items() if url is not None and self._is_offered(url)}

            def are_there() -> bool | None:
                missing.difference_update(page_tab(entry.tab) for entry in registry if entry.offers)
                return None if missing else True

            await changes.until(are_there, until - self._clock.now())
        except TabLoadError as error:
            log.info("The first list of tools waits for no tabs: %s", error)
        except Exception:
            log.exception("The tabs that are open could not be read.")
        finally:
            self.settled.set()

    def _is_offered(self, url: str) -> bool:
        return domain_of(url) != UNKNOWN and self._options.allows(url)
