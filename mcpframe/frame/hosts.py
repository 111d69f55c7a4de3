"""Which dialects have a host API (`session.host`), and what it does for every page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.host_messages import HostMessages

if TYPE_CHECKING:
    from mcpframe.frame.host_context import HostContext

_APIS = {"mcp_apps": "mcpframe.frame.apps_host:AppsHost", "mcp_ui": "mcpframe.frame.embedding_host:EmbeddingHost"}
"""By dialect: a class that is called with the event that began the session, and with the way to the host."""


def host_api(begun: SessionBegun, messages: HostMessages) -> Any:
    """Return the host API for a session that has begun; None for a dialect without one.

    Args:
        begun: the event that began it.
        messages: the way to the host.
    """
    place = _APIS.get(begun.dialect)
    if place is None:
        return None
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)(begun, messages)


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
    stop = view.follow_size(host.report_size)
    try:
        yield
    finally:
        stop()
