"""The numbers of frames: for the hub, a frame of a page is a tab of its own, with a domain of its own.

tab 7 ── its page: 7 ── its first frame: 10000000007 ── its second frame: 20000000007
"""

from __future__ import annotations

from mcpframe.hub.core import limits

_STRIDE = 10**10
"""Larger than any browser's tab number; every frame's number is exact in JavaScript."""


def frame_tab(tab: int, number: int) -> int:
    """Return the number of the tab that represents a frame.

    Args:
        tab: The number of its page's tab.
        number: The frame's number, from 1.
    """
    return tab + number * _STRIDE


def page_tab(tab: int) -> int:
    """Return the tab of a frame's page; a tab that represents no frame is returned as it is."""
    return tab % _STRIDE


def frame_number(tab: int) -> int:
    """Return the number of the frame that a tab represents; 0 if it represents a page."""
    return tab // _STRIDE


class FrameNumbers:
    """The numbers of the frames in a tab.

    A frame keeps its number when its page is reloaded, so that its tools keep their names.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._used: set[int] = set()
        self._last = 0

    def take(self, url: str) -> int:
        """Reserve and return a number for a frame with this address."""
        at = 0
        while (number := self._numbers.get((url, at))) in self._used:
            at += 1
        if number is None:
            if len(self._numbers) >= limits.KNOWN_FRAMES:
                self._numbers = {key: known for key, known in self._numbers.items() if known in self._used}
            number = self._numbers[url, at] = self._last = self._last + 1
        self._used.add(number)
        return number

    def give_back(self, number: int) -> None:
        """Release the number of a frame that is no longer relayed."""
        self._used.discard(number)
