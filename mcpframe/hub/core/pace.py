"""Lists of tools of a page that changes all the time: some at once, and then the newest one every so often.

Proxies wait half a second for further changes, but they cannot be relied upon (MCP-B, "Security Considerations").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpframe.frame.waiting.clock import Timers, TokenBucket

BURST = 50
"""How many lists of a tab are taken at once."""
SECONDS = 0.25
"""After how long one more is taken."""


class _Paced:
    """A tab's token bucket and its pending list."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.tokens = TokenBucket(BURST, 1 / SECONDS, now)
        self.waits: list[Any] = []
        self.stop_timer: Callable[[], None] = lambda: None


class Pace:
    """Passes on what tabs say, at a limited rate for each tab."""

    def __init__(self, clock: Timers, take: Callable[[int, Any], None]) -> None:
        """Start without a tab.

        Args:
            clock: the clock of the rate.
            take: called with a tab, and what it has said.
        """
        self._clock = clock
        self._take = take
        self._tabs: dict[int, _Paced] = {}

    def put(self, tab: int, item: Any) -> None:
        """Pass on what a tab says: now, or a little later, unless it has said something else by then."""
        paced = self._tabs.setdefault(tab, _Paced(self._clock.now))
        if paced.waits:
            paced.waits = [item]
        elif paced.tokens.take():
            self._take(tab, item)
        else:
            paced.waits = [item]
            paced.stop_timer = self._clock.call_later(SECONDS, lambda: self._late(tab, paced))

    def forget(self, tab: int) -> None:
        """Forget a tab and its pending list."""
        if paced := self._tabs.pop(tab, None):
            paced.stop_timer()

    def _late(self, tab: int, paced: _Paced) -> None:
        [item] = paced.waits
        paced.waits = []
        paced.tokens.take()  # the one that it got meanwhile
        self._take(tab, item)
