"""The window of a tab without Python, over its port: what it offers is relayed by the tab that leads.

The tab's half is `static/host/app-hub.js`, which has the functions of `static/hub/page.js` and of `document-tools.js`
(`relay_page` describes them). It judges nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import messages
from mcpframe.hub.core.names import domain_of, origin_of
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.homes.page.switchboard import AppPort
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.half import PortHalf
from mcpframe.hub.relay.page_relay import PageRelay

log = logging.getLogger(__name__)


class WindowRelay:
    """The relay of a tab's document.

    Args:
        port: The tab's port.
        transport: The hub's.
        clock: The time.
        allows: Whether a page may be relayed, by its address.
    """

    def __init__(self, port: AppPort, transport: PortTransport, clock: Clock, allows: Callable[[str], bool]) -> None:
        self._port = port
        self._tools = PortHalf("document", self._post)
        self._relay = PageRelay(
            port.tab,
            port.url,
            origin_of(port.url),
            PortHalf("page", self._post),
            DocumentTools(self._tools),
            transport,
            clock,
            allows=allows,
            on_close=port.close,
        )
        port.on_message = self._heard

    async def run(self) -> None:
        """Relay until this is cancelled."""
        await self._relay.serve()

    def close(self) -> None:
        """End at once all that is relayed: the port has ended."""
        self._relay.close()
        self._tools.close()

    def _post(self, command: Mapping[str, Any]) -> None:
        self._port.post(payload.encode(command))

    def _heard(self, text: str) -> None:
        try:
            report = messages.parse(text)
            if report["kind"] == "answer":
                self._tools.answered(report)
            else:
                self._relay.report(report)
        except (MessageError, KeyError, TypeError, ValueError) as error:
            log.warning("A report of %s is ignored: %s", domain_of(self._port.url), error)
