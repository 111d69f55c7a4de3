"""The picture of the points in the page. Outside of a browser nothing is drawn."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from mcpframe import FrameSession

MOST = 25_000
"""How many points are kept until the page is shown."""


class Picture:
    """The latest points, and the page that shows them."""

    def __init__(self) -> None:
        """Start without points and without a page."""
        self._points: deque[tuple[float, float]] = deque(maxlen=MOST)
        self._inside = self._total = 0
        self._session: FrameSession | None = None
        self._canvas: Any = None
        self._shown = False

    async def open(self, session: FrameSession) -> None:
        """Put the picture into the page."""
        page = session.page
        await page.show("picture.html")
        module = await page.import_module("picture.js")
        self._canvas = module.canvas(page.element("#points").js)
        self._session = session

    async def run(self) -> None:
        """Draw for as long as the page lives, while it is shown."""
        assert self._session is not None
        async for shown in self._session.page.visibility():
            self._shown = shown
            if shown:  # the points thrown meanwhile
                self._canvas.draw(json.dumps(list(self._points)), True)
                self._tell()

    def add(self, points: Iterable[tuple[float, float]], inside: int, total: int) -> None:
        """Add points.

        Args:
            points: The points to draw.
            inside: How many points have landed in the circle so far.
            total: How many points were thrown so far.
        """
        new = list(points)
        self._points.extend(new)
        self._inside, self._total = inside, total
        if self._shown:
            self._canvas.draw(json.dumps(new), False)
            self._tell()

    def clear(self) -> None:
        """Remove all points."""
        self._points.clear()
        self._inside = self._total = 0
        if self._shown:
            self._canvas.draw("[]", True)
            self._tell()

    def _tell(self) -> None:
        assert self._session is not None
        page = self._session.page
        page.element("#estimate").text = f"{4 * self._inside / self._total:.6f}" if self._total else "-"
        page.element("#total").text = f"{self._total:,}"
        page.element("#inside").text = f"{self._inside:,}"
        page.element("#outside").text = f"{self._total - self._inside:,}"
        page.element("#send").disabled = not self._total
