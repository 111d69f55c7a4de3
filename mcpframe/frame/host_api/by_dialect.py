"""The host API (`session.host`) of the dialects that have one, with its automatic size and appearance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.dialects.available import dialect
from mcpframe.frame.session.host_messages import HostMessages

if TYPE_CHECKING:
    from mcpframe.frame.host_api.context import HostContext


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


@contextmanager
def follow_host(host: Any, *, drawn: bool) -> Iterator[None]:
    """Follow the host's appearance and report the page's size, in dialects with a host API.

    Args:
        host: the host API; None in a dialect without one.
        drawn: see `fitting.follow_size`.
    """
    if host is None:
        yield
        return
    from mcpframe.frame.browser import fitting

    appearance = fitting.HostAppearance()

    def apply(context: HostContext) -> None:
        area = context.safe_area
        insets = (area.top, area.right, area.bottom, area.left) if area else None
        appearance.apply(theme=context.theme, variables=context.variables, fonts=context.fonts, insets=insets)

    apply(host.context)
    host.watch_context(apply)
    stop = fitting.follow_size(host.report_size, drawn=drawn)
    try:
        yield
    finally:
        stop()
