"""The sandbox proxy of a host: a small page of another origin, or of none, that frames HTML text and relays messages.

See `static/app/sandbox.html`: its address, and the window of the page that it frames.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core import payload
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE
from mcpframe.frame.core.errors import OriginError, StateError
from mcpframe.frame.core.events import Departure, Inbound, Window
from mcpframe.frame.core.places import parse_address

PROXY_SANDBOX: Final = "allow-scripts allow-same-origin allow-forms"
"""The sandbox of a proxy of another origin. It keeps that, which is checked."""
VIEW_OPAQUE: Final = "allow-scripts allow-forms"
VIEW_OWN_ORIGIN: Final = "allow-scripts allow-forms allow-same-origin"
"""The sandboxes of a view in the proxy: with an opaque origin, or with the proxy's."""
OWN: Final = "ui/notifications/sandbox-"
"""The prefix of the proxy's own methods."""


def parse_sandbox_proxy(sandbox: str | None) -> tuple[str, str]:
    """Return the address of the sandbox proxy, and its origin: `OPAQUE` for one that the page's own origin serves.

    Args:
        sandbox: the address; None for the proxy that this page was built with.

    Raises:
        OriginError: for an invalid address, or one of this page's own origin.
        StateError: if there is no sandbox proxy.
    """
    if in_pyodide():
        from mcpframe.frame.browser import frame_places

        if sandbox:
            address, is_own = frame_places.absolute(sandbox), False
        else:
            address, is_own = frame_places.sandbox_address()
        address, origin = parse_address(address)
        if is_own:
            return address, OPAQUE
        if origin == frame_places.own_origin():
            raise OriginError(f"{address} is of this page's own origin: serve the sandbox on another one.")
        return address, origin
    if sandbox is None:
        raise StateError("The sandbox is found only in a browser's page: elsewhere, pass AppHost the address of one.")
    return parse_address(sandbox)


def find_sandbox_proxy(sandbox: str | None) -> tuple[str, str] | None:
    """Return the address and the origin of the sandbox proxy; None if there is none and this is not a browser's page.

    Outside of a browser's page the host may have no policy, and show HTML text itself; a bundle's policy forbids that.

    Raises:
        OriginError: for an invalid address, or one of this page's own origin.
        StateError: if there is no sandbox proxy, in a browser's page.
    """
    if sandbox is None and not in_pyodide():
        return None
    return parse_sandbox_proxy(sandbox)


def proxy_sandbox(origin: str) -> str:
    """Return the `sandbox` attribute of a proxy: it keeps its origin, unless that is the page's own."""
    return VIEW_OPAQUE if origin == OPAQUE else PROXY_SANDBOX


class ProxiedWindow:
    """The window of the page in a proxy (`events.Window`). The proxy hands the page its HTML text."""

    def __init__(self, window: Window, origin: str, resource: Mapping[str, Any], loaded: Callable[[], None]) -> None:
        """Wait for the proxy.

        Args:
            window: the proxy's window.
            origin: the proxy's origin.
            resource: the page for it to frame, as the parameters of `sandbox-resource-ready`.
            loaded: called when that page has loaded.
        """
        self._window = window
        self._origin = origin
        self._resource = resource
        self._loaded = loaded
        self._loads = 0

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen; see `events.Window`. The proxy's own messages are not delivered."""

        def hear(inbound: Inbound) -> None:
            if not inbound.from_peer or inbound.origin != self._origin:
                deliver(inbound)
                return
            try:
                text = inbound.read()
            except ValueError:
                deliver(inbound)
                return
            own = _own_method(text)
            if own == f"{OWN}proxy-ready":
                message = {"jsonrpc": "2.0", "method": f"{OWN}resource-ready", "params": self._resource}
                self._window.post(payload.encode(message), ANY if self._origin == OPAQUE else self._origin)
            elif own == f"{OWN}view-loaded":
                self._loads += 1
                if self._loads > 1:
                    gone(Departure.REPLACED)
                else:
                    self._loaded()
            else:
                deliver(replace(inbound, read=lambda: text))

        return self._window.listen(hear, gone)

    def post(self, text: str, target_origin: str) -> None:
        """Post to the page; see `events.Window`."""
        self._window.post(text, target_origin)


def _own_method(text: str) -> str | None:
    if len(text) > 1000 or OWN not in text:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    method = message.get("method") if isinstance(message, dict) else None
    return method if isinstance(method, str) and method.startswith(OWN) else None
