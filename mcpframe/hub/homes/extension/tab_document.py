"""The document of a tab whose content script (`static/extension/content.js`) has opened a port."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.frame_numbers import FrameNumbers
from mcpframe.hub.core.names import domain_of
from mcpframe.hub.core.pieces import Joiner, cut_marked
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.homes.extension.runtime import ExtensionPort
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.half import TellingHalf
from mcpframe.hub.relay.page_relay import PageRelay, PortDocument

log = logging.getLogger(__name__)

_LIMITS = {"max_bytes": MESSAGE_BYTES, "max_nesting": limits.SCRIPT_NESTING}


class TabDocument:
    """A document and its relay.

    Args:
        port: The content script's.
        origin: The document's origin, from the browser.
        allows: Returns whether a page may be relayed, given its address; called for each frame.
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
        self.url = port.sender.url
        self._port = port
        self._pieces = Joiner(MESSAGE_BYTES, limits.SCRIPT_PIECES)

        def relay(page: TellingHalf, tools: DocumentTools) -> PageRelay:
            return PageRelay(
                tab,
                self.url,
                origin,
                page,
                tools,
                transport,
                clock,
                allows=allows,
                numbers=numbers,
                on_close=self.close,
            )

        self._document = PortDocument(self._post, relay)
        port.on_message = self._received
        port.on_close = self.end

    def is_document(self, document: str | None) -> bool:
        """Return whether this is the document with a browser's id; False for None."""
        return document is not None and self._port.sender.document == document

    def start(self) -> None:
        """Relay the document until `end`."""
        self._post({"half": "document", "call": "begin", "arguments": []})
        self._document.start()

    def end(self) -> None:
        """Stop relaying the document: its tools are removed."""
        self._document.end()

    def close(self) -> None:
        """End, and close the port."""
        self.end()
        self._port.close()

    def leave(self) -> None:
        """Make the content script leave the page for good."""
        self._post({"half": "page", "call": "leave", "arguments": []})
        self.close()

    def _post(self, command: Mapping[str, Any]) -> None:
        try:
            for piece in cut_marked(payload.encode(command), limits.SCRIPT_PIECE_CHARACTERS):
                self._port.post(payload.encode(piece))
        except OSError as error:  # the port has ended, which is reported separately
            log.debug("A page of %s is gone: %s", domain_of(self.url), error)

    def _received(self, text: str) -> None:
        try:
            if (whole := self._pieces.add_marked(payload.parse(text, **_LIMITS))) is not None:
                self._document.report(payload.parse(whole, **_LIMITS))
        except (MessageError, KeyError, TypeError, ValueError):
            log.warning("A report of %s is ignored.", domain_of(self.url))
