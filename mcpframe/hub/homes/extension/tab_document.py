"""The document of a tab, whose content script (`static/extension/content.js`) has opened a port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.frames import FrameNumbers
from mcpframe.hub.core.messages import MAX_MESSAGE_BYTES
from mcpframe.hub.core.names import domain_of
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.homes.extension.runtime import ExtensionPort
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.half import PortHalf
from mcpframe.hub.relay.page_relay import PageRelay

log = logging.getLogger(__name__)

PIECE = 4_000_000
"""Characters of a message that cross at once: Chrome takes 64 MiB, and escapes what it has to."""
_MOST_PIECES = 64
_LIMITS = {"max_bytes": 4 * MAX_MESSAGE_BYTES, "max_nesting": 64}


class TabDocument:
    """A document and its relay.

    Args:
        port: The content script's.
        tab: The tab.
        origin: The document's origin, as the browser has it.
        transport: The hub's.
        clock: The time.
        allows: Whether a page may be relayed, by its address: asked for each frame.
        numbers: The numbers of the frames in the tab.
    """

    def __init__(
        self,
        port: ExtensionPort,
        tab: int,
        origin: str,
        transport: PortTransport,
        clock: Clock,
        *,
        allows: Callable[[str], bool],
        numbers: FrameNumbers,
    ) -> None:
        self.tab = tab
        self.url = port.sender.url
        self._port = port
        self._origin = origin
        self._transport = transport
        self._clock = clock
        self._allows = allows
        self._numbers = numbers
        self._pieces: list[str] = []
        self._tools = PortHalf("document", self._post)
        self._relay: PageRelay | None = None
        self._serving: asyncio.Task[None] | None = None
        port.on_message = self._received
        port.on_close = self.end

    def is_document(self, document: str | None) -> bool:
        """Return whether this is the document with an id of the browser's; False for none."""
        return document is not None and self._port.sender.document == document

    def start(self) -> None:
        """Relay the document until `end`."""
        self._tools = PortHalf("document", self._post)
        self._tools.tell("begin")
        self._relay = PageRelay(
            self.tab,
            self.url,
            self._origin,
            PortHalf("page", self._post),
            DocumentTools(self._tools),
            self._transport,
            self._clock,
            allows=self._allows,
            numbers=self._numbers,
            on_close=self.close,
        )
        self._serving = asyncio.get_running_loop().create_task(self._relay.serve())
        self._serving.add_done_callback(_look_at)

    def end(self) -> None:
        """Relay the document no more: its tools are gone."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        self._tools.close()
        if self._serving is not None:
            self._serving.cancel()

    def close(self) -> None:
        """End, and close the port."""
        self.end()
        self._port.close()

    def leave(self) -> None:
        """Have the content script leave the page, and not come back."""
        self._post({"half": "page", "call": "leave", "arguments": []})
        self.close()

    def _post(self, command: Mapping[str, Any]) -> None:
        text = payload.encode(command)
        start = 0
        try:
            while len(text) - start > PIECE:
                self._port.post(payload.encode(f"+{text[start : start + PIECE]}"))
                start += PIECE
            self._port.post(payload.encode(f".{text[start:]}"))
        except OSError as error:  # the port has ended, which is heard of separately
            log.debug("A page of %s is gone: %s", domain_of(self.url), error)

    def _received(self, text: str) -> None:
        try:
            piece = payload.parse(text, **_LIMITS)
            self._pieces.append(piece[1:])
            if len(self._pieces) > _MOST_PIECES:
                self._pieces = []
            elif piece[:1] == ".":
                whole, self._pieces = "".join(self._pieces), []
                self._reported(payload.parse(whole, **_LIMITS))
        except (MessageError, KeyError, TypeError, ValueError):
            log.warning("A report of %s is ignored.", domain_of(self.url))

    def _reported(self, report: Mapping[str, Any]) -> None:
        if report["kind"] == "answer":
            self._tools.answered(report)
        elif self._relay is not None:
            self._relay.report(report)


def _look_at(serving: asyncio.Task[None]) -> None:
    """Log what has ended the work for a document: it must not end that for others."""
    if not serving.cancelled() and (error := serving.exception()):
        log.error("A page cannot be relayed any more.", exc_info=error)
