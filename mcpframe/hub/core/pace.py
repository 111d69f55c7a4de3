"""Rate limit for a page's lists of tools: a burst at once, then the newest one at a fixed rate.

Proxies wait half a second for further changes, but they are not trusted (MCP-B, "Security Considerations").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpframe.frame.waiting.clock import Timers
from mcpframe.frame.waiting.token_bucket import TokenBucket
from mcpframe.hub.core import limits


class _Paced:
    """A tab's token bucket and its pending list."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.tokens = TokenBucket(limits.LIST_BURST, 1 / limits.LIST_INTERVAL_SECONDS, now)
        self.waits: list[Any] = []
        self.stop_timer: Callable[[], None] = lambda: None


class Pace:
    """Passes on items of tabs, at a limited rate for each tab."""

    def __init__(self, clock: Timers, take: Callable[[int, Any], None]) -> None:
        self._clock = clock
        self._take = take
        self._tabs: dict[int, _Paced] = {}

    def put(self, tab: int, item: Any) -> None:
        """Pass on an item of a tab: now, or later, unless a newer one has replaced it by then."""
        paced = self._tabs.setdefault(tab, _Paced(self._clock.now))
        if paced.waits:
            paced.waits = [item]
        elif paced.tokens.take():
            self._take(tab, item)
        else:
            paced.waits = [item]
            paced.stop_timer = self._clock.call_later(limits.LIST_INTERVAL_SECONDS, lambda: self._late(tab, paced))

    def forget(self, tab: int) -> None:
        """Forget a tab and its pending list."""
        if paced := self._tabs.pop(tab, None):
            paced.stop_timer()

    def _late(self, tab: int, paced: _Paced) -> None:
        [item] = paced.waits
        paced.waits = []
        paced.tokens.take()  # the token refilled meanwhile
        self._take(tab, item)
