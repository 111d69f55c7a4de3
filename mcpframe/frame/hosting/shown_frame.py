"""A framed page in its place: its session, visibility, size and removal.

The hosts in Python (`OuterFrame`, `AppHost`, `UiHost`) each show a page in a `ShownFrame`, and add their dialect.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Departure, Inbound, Window
from mcpframe.frame.core.places import FramedWindow, Framing, Place, Popup
from mcpframe.frame.session.session import EventHook, Intercept, Session, WireHook

T = TypeVar("T")
Json = Mapping[str, Any]
Size = tuple[int | None, int | None]

LARGEST = 10_000
"""The largest width and height in CSS pixels that a page gets, unless the host has other bounds."""
AXES = ("width", "height")
_RESIZE_SECONDS = 1 / 60
"""The shortest time between changes of the frame's size: one animation frame."""


def find_place(target: Any, *, popup: bool = False) -> Place:
    """Return the place for a selector or an element of this page, or a `Place`.

    Args:
        target: a selector, an element, or a place.
        popup: whether `POPUP` is accepted. A popup has no sandbox.

    Raises:
        StateError: if there is no such place; outside of a page, if it is not a `Place`.
    """
    if isinstance(target, Popup) and not popup:
        raise StateError("A popup has no sandbox: pass a selector or an element for an iframe.")
    if in_pyodide():
        from mcpframe.frame.browser.frame_places import place_of

        return place_of(target)
    if callable(target):
        place: Place = target
        return place
    raise StateError(
        f"{target!r} is a place only in a browser's page: elsewhere, pass a PlaywrightPlace (mcpframe.kit.testing)."
    )


class ShownFrame:
    """A displayed page; it is the window of its own session (`events.Window`).

    Attributes:
        visible: whether it is visible now.
        size: the width and height that the page reported last, before any bounds; None if it has not.
        session: the session with it, from `open` on.
    """

    session: Session

    def __init__(self) -> None:
        self.visible = False
        self.size: tuple[float | None, float | None] = (None, None)
        self._window: FramedWindow | None = None
        self._peer: Window
        self._once = False
        self._current: Size = (None, None)
        self._next: Size = (None, None)
        self._resizing: asyncio.Handle | None = None

    @asynccontextmanager
    async def open(
        self,
        place: Place,
        framing: Framing,
        candidate: Candidate,
        *,
        options: Options,
        on_event: EventHook | None = None,
        on_wire: WireHook | None = None,
        intercept: Intercept | None = None,
        through: Callable[[FramedWindow], Window] | None = None,
        once: bool = False,
        before_removal: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncIterator[Session]:
        """Put the page into its place and start a session with it; remove it at the end of the block.

        Args:
            place: where to put it.
            framing: the page, and the attributes of its frame.
            candidate: the role of this side, with the one origin that the page may have.
            options: deadlines and limits.
            on_event: see `Session`.
            on_wire: see `Session`.
            intercept: see `Session`; it takes every message, so that the streams stay empty.
            through: wraps the window, where the peer is a page within the framed one.
            once: whether the session ends when the document is replaced. All opaque origins look the same, so that a
                link to another site would otherwise hand that site the session.
            before_removal: awaited at the end of the block, before the session ends. It has a deadline of its own.

        Yields:
            The session, which may not have begun.
        """
        async with place(framing) as window:
            self._window, self.visible, self._once = window, framing.visible, once
            self._peer = through(window) if through else window
            connection = Connection([candidate], options=options)
            hand_over = None if through else getattr(window, "hand_over", None)
            self.session = session = Session(
                connection, self, on_event, on_wire, intercept=intercept, hand_over=hand_over
            )
            if intercept is not None:
                session.streams[0].close()
            try:
                session.start()
                try:
                    yield session
                finally:
                    if before_removal is not None:
                        await before_removal()
            finally:
                session.close()
                session.streams[0].close()
                self.stop_resizing()
                self._window, self.visible = None, False

    def show(self, visible: bool) -> bool:
        """Show or hide the page, which keeps running; bring a popup to the front. Returns whether that is a change.

        Raises:
            StateError: if the page is not in its place.
        """
        if self._window is None:
            raise StateError("Nothing is framed now: show and hide a page while it is in its place.")
        self._window.show(visible)
        changes, self.visible = visible is not self.visible, visible
        return changes

    def resize(self, width: int | None, height: int | None) -> None:
        """Set the size of the frame in CSS pixels; None leaves it as it is."""
        if self._window is not None:
            self._window.resize(width, height)

    def follow(self, reported: Json, container: Json | None = None, axes: Collection[str] = AXES) -> None:
        """Record the size that the page reports, and apply it to the frame shortly after.

        Args:
            reported: `width` and `height`, or one of them.
            container: bounds, as in `containerDimensions` of MCP Apps.
            axes: the dimensions in which the frame follows.
        """
        self.size = _replaced(self.size, *(_number(reported.get(name)) for name in AXES))
        followed = {name: value for name, value in reported.items() if name in axes}
        self._next = _replaced(self._next, *bounded(followed, container or {}))
        if self._resizing is None and self._next != self._current:
            self._resizing = asyncio.get_running_loop().call_later(_RESIZE_SECONDS, self._apply)

    def stop_resizing(self) -> None:
        """Leave the frame's size as it is."""
        if self._resizing is not None:
            self._resizing.cancel()
        self._resizing = None

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Load the page and listen to it; see `events.Window`."""
        return self._peer.listen(deliver, (lambda _: gone(Departure.REMOVED)) if self._once else gone)

    def post(self, text: str, target_origin: str) -> None:
        """Post to the page; see `events.Window`."""
        self._peer.post(text, target_origin)

    def _apply(self) -> None:
        self._resizing = None
        if self._next != self._current:
            self._current = self._next
            self.resize(*self._current)


def bounded(reported: Json, container: Json) -> Size:
    """Return the new width and height of a frame; None for no change.

    Args:
        reported: the size that its page reports.
        container: `containerDimensions` of the host's context: a fixed dimension stays as it is.
    """

    def one(name: str, most: str) -> int | None:
        value, bound = _pixels(reported.get(name)), _pixels(container.get(most))
        if value is None or container.get(name) is not None:
            return None
        return int(min(value, LARGEST if bound is None else bound))

    return one("width", "maxWidth"), one("height", "maxHeight")


def _replaced(old: tuple[T | None, T | None], width: T | None, height: T | None) -> tuple[T | None, T | None]:
    return old[0] if width is None else width, old[1] if height is None else height


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _pixels(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number >= 0 else None
