"""Lists of tools of a page that changes all the time: some at once, and then the newest one every so often.

Proxies wait half a second for further changes, but they cannot be relied upon (MCP-B, "Security Considerations").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpframe.hub.core.interfaces import Clock

BURST = 50
"""How many lists of a tab are taken at once."""
SECONDS = 0.25
"""After how long one more is taken."""


class _Paced:
    """What is left of one tab's burst, when that was so, and the list that waits."""

    def __init__(self, now: float) -> None:
        self.left = float(BURST)
        self.at = now
        self.waits: list[Any] = []
        self.stop_timer: Callable[[], None] = lambda: None


class Pace:
    """Passes on what tabs say, at a pace that each of them has to keep to.

    Args:
        clock: The time.
        take: Called with a tab, and what it has said.
    """

    def __init__(self, clock: Clock, take: Callable[[int, Any], None]) -> None:
        self._clock = clock
        self._take = take
        self._tabs: dict[int, _Paced] = {}

    def put(self, tab: int, item: Any) -> None:
        """Pass on what a tab says: now, or a little later, unless it has said something else by then."""
        paced = self._tabs.setdefault(tab, _Paced(self._clock.now()))
        if paced.waits:
            paced.waits = [item]
            return
        now = self._clock.now()
        paced.left = min(float(BURST), paced.left + (now - paced.at) / SECONDS)
        paced.at = now
        if paced.left >= 1:
            paced.left -= 1
            self._take(tab, item)
            return
        paced.waits = [item]
        paced.stop_timer = self._clock.call_later(SECONDS, lambda: self._late(tab, paced))

    def forget(self, tab: int) -> None:
        """Forget a tab, and what of it waits."""
        if paced := self._tabs.pop(tab, None):
            paced.stop_timer()

    def _late(self, tab: int, paced: _Paced) -> None:
        [item] = paced.waits
        paced.waits = []
        paced.at = self._clock.now()
        self._take(tab, item)
