"""The host API (`session.host`) of the dialects that have one, with its automatic size and appearance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.dialects.available import dialect
from mcpframe.frame.session.host_messages import HostMessages

if TYPE_CHECKING:
    from mcpframe.frame.host_api.context import HostContext

_MOST_FOLLOWED = 3


def host_api(begun: SessionBegun, messages: HostMessages) -> Any:
    """Return the host API for a session that has begun; None for a dialect without one.

    Args:
        begun: the event that began it.
        messages: the way to the host.
    """
    module, _, name = dialect(begun.dialect).host_api.partition(":")
    if not module:
        return None
    return getattr(import_module(module), name)(begun, messages)


class OwnSize:
    """Report a page's preferred size to its host, which may apply it to the frame.

    Content whose height is that of the frame, such as `100vh` with margins, would grow with every report. So a page
    that has grown or shrunk with its frame three times in a row stops reporting until something else changes.
    """

    def __init__(self, report: Callable[[int, int], None]) -> None:
        """Start without a size.

        Args:
            report: called with the width and height in CSS pixels, if they have changed.
        """
        self._report = report
        self._reported: tuple[int, int] | None = None
        self._last = (0, 0, 0)
        self._followed = 0

    def measured(self, width: int, height: int, frame: int) -> None:
        """Record the page's current size, and the height of its frame."""
        last_width, last_height, last_frame = self._last
        grown, frame_grown = height - last_height, frame - last_frame
        follows = frame_grown != 0 and grown * frame_grown > 0 and abs(grown) >= abs(frame_grown)
        if self._reported and width == last_width and follows:
            self._followed += 1
        elif self._last != (width, height, frame):
            self._followed = 0
        self._last = (width, height, frame)
        if self._followed < _MOST_FOLLOWED and self._reported != (width, height):
            self._reported = (width, height)
            self._report(width, height)


@contextmanager
def fitted(host: Any) -> Iterator[None]:
    """Follow the host's appearance and report the page's size, in dialects with a host API."""
    if host is None:
        yield
        return
    from mcpframe.frame.browser import view

    dress = view.Dress()

    def dressed(context: HostContext) -> None:
        area = context.safe_area
        insets = (area.top, area.right, area.bottom, area.left) if area else None
        dress.apply(theme=context.theme, variables=context.variables, fonts=context.fonts, insets=insets)

    dressed(host.context)
    host.watch_context(dressed)
    stop = view.follow_size(OwnSize(host.report_size).measured)
    try:
        yield
    finally:
        stop()
