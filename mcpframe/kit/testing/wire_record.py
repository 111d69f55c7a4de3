"""Records the messages between an outer frame and its page, for debugging a failed test."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import FramedWindow, Framing, Place

_MOST = 2000
"""The number of messages kept; older ones are dropped."""


class WireRecord:
    """The messages of all windows of one place."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._entries: deque[dict[str, Any]] = deque(maxlen=_MOST)

    def note(self, direction: str, text: str | None, **more: object) -> None:
        """Add one message.

        Args:
            direction: "→" to the page, "←" from it, "-" if it is gone.
            text: Its JSON text; None if it has none, or is not from the page.
            more: Additional fields.
        """
        self.add(direction, _parsed(text), **more)

    def add(self, direction: str, message: Any, **more: object) -> None:
        """Add one parsed message; see `note`."""
        seconds = round(time.monotonic() - self._start, 4)
        self._entries.append({"seconds": seconds, "direction": direction, **more, "message": message})

    def lines(self) -> str:
        """Return all messages as lines of JSON: seconds since the start, direction, origin and message."""
        return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in self._entries)

    def recording(self, place: Place) -> Place:
        """Return a place whose windows are recorded."""
        return lambda framing: _Recorded(place, framing, self)


class _Recorded:
    """A window that records its messages."""

    def __init__(self, place: Place, framing: Framing, record: WireRecord) -> None:
        self._window: FramedWindow = place(framing)
        self._record = record

    async def __aenter__(self) -> Self:
        await self._window.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self._window.__aexit__(exc_type, exc_val, exc_tb)

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        def heard(inbound: Inbound) -> None:
            self._record.note("←", _text(inbound), origin=inbound.origin, from_peer=inbound.from_peer)
            deliver(inbound)

        def left(departure: Departure) -> None:
            self._record.note("-", None, departure=str(departure))
            gone(departure)

        return self._window.listen(heard, left)

    def post(self, text: str, target_origin: str) -> None:
        self._record.note("→", text, origin=target_origin)
        self._window.post(text, target_origin)

    def show(self, visible: bool) -> None:
        self._window.show(visible)

    def resize(self, width: int | None, height: int | None) -> None:
        self._window.resize(width, height)


def _text(inbound: Inbound) -> str | None:
    if not inbound.from_peer:
        return None
    try:
        return inbound.read()
    except ValueError:
        return None


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)
