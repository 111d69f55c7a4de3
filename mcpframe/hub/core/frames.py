"""The numbers of frames: for the hub, a frame of a page is a tab of its own, with a domain of its own.

tab 7 ── its page: 7 ── its first frame: 10000000007 ── its second frame: 20000000007
"""

from __future__ import annotations

_STRIDE = 10**10
"""More than any browser's number of a tab; and every number of a frame is exact in JavaScript."""
QUIET_SECONDS = 3.0
"""How long the page's own scripts have to begin a session with a frame, before the hub does."""
MOST_KNOWN = 500
"""How many frames of a tab have a number that is kept."""


def frame_tab(tab: int, number: int) -> int:
    """Return the tab that stands for a frame.

    Args:
        tab: The tab of its page.
        number: The frame's number, from 1.
    """
    return tab + number * _STRIDE


def page_tab(tab: int) -> int:
    """Return the tab of the page that a frame is in; a tab itself where it stands for no frame."""
    return tab % _STRIDE


def frame_number(tab: int) -> int:
    """Return the number of the frame that a tab stands for; 0 where it stands for a page."""
    return tab // _STRIDE


class FrameNumbers:
    """The numbers of the frames in a tab.

    A frame has the same number again when its page is loaded again, so that its tools keep their names.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._used: set[int] = set()
        self._last = 0

    def take(self, url: str) -> int:
        """Return the number of a frame with this address, which no other has until it is given back."""
        at = 0
        while (number := self._numbers.get((url, at))) in self._used:
            at += 1
        if number is None:
            if len(self._numbers) >= MOST_KNOWN:
                self._numbers = {key: known for key, known in self._numbers.items() if known in self._used}
            number = self._numbers[url, at] = self._last = self._last + 1
        self._used.add(number)
        return number

    def give_back(self, number: int) -> None:
        """Note that the frame is not relayed any more."""
        self._used.discard(number)
