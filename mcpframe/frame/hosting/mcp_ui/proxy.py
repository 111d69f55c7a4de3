"""Windows of pages at an opaque origin: of one that is framed by this page, and of one behind the sandbox proxy.

Every page that is loaded there in place of the first one has the same origin, `"null"`: a link in it that leads to
another site would hand that site the session. So such a page is over when another document has been loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from mcpframe.frame.core import payload
from mcpframe.frame.core.events import Departure, Inbound, Window

OWN: Final = "ui/notifications/sandbox-"
"""The start of the proxy's own methods: see `static/app/sandbox.html`."""


class ShownOnce:
    """A window for one document (`events.Window`): another one in its place counts as its end."""

    def __init__(self, window: Window) -> None:
        """Wait for the document.

        Args:
            window: that of the page.
        """
        self._window = window

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen; see `events.Window`."""
        return self._window.listen(deliver, lambda _: gone(Departure.REMOVED))

    def post(self, text: str, target_origin: str) -> None:
        """Post to the page; see `events.Window`."""
        self._window.post(text, target_origin)


class Proxied(ShownOnce):
    """The window of a proxy, for the page in it (`events.Window`). The proxy hands the page its HTML text."""

    def __init__(self, window: Window, origin: str, resource: Mapping[str, Any], loaded: Callable[[], None]) -> None:
        """Wait for the proxy.

        Args:
            window: that of the proxy.
            origin: its origin.
            resource: what it is to frame, as the parameters of `sandbox-resource-ready`.
            loaded: called when that has loaded.
        """
        super().__init__(window)
        self._origin = origin
        self._resource = resource
        self._loaded = loaded
        self._loads = 0

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen; see `events.Window`. The proxy's own messages go no further."""

        def hear(inbound: Inbound) -> None:
            if not inbound.from_peer or inbound.origin != self._origin:
                deliver(inbound)
                return
            try:
                text = inbound.read()
            except ValueError:
                deliver(inbound)
                return
            own = self._own_method(text)
            if own == f"{OWN}proxy-ready":
                message = {"jsonrpc": "2.0", "method": f"{OWN}resource-ready", "params": self._resource}
                self._window.post(payload.encode(message), self._origin)
            elif own == f"{OWN}view-loaded":
                self._loads += 1
                if self._loads > 1:
                    gone(Departure.REMOVED)
                else:
                    self._loaded()
            else:
                deliver(replace(inbound, read=lambda: text))

        return super().listen(hear, gone)

    @staticmethod
    def _own_method(text: str) -> str | None:
        if len(text) > 1000 or OWN not in text:
            return None
        try:
            message = json.loads(text)
        except ValueError:
            return None
        method = message.get("method") if isinstance(message, dict) else None
        return method if isinstance(method, str) and method.startswith(OWN) else None
