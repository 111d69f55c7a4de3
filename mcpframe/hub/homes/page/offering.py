"""The tools and resources of a server in this tab's own Python, offered to the hub over a port."""

from __future__ import annotations

import asyncio
import logging
import math
from contextlib import nullcontext
from typing import Any, NoReturn

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError, StateError
from mcpframe.frame.serving.framed import Framed, PeerSession
from mcpframe.frame.serving.server_module import server_module
from mcpframe.frame.waiting.streams import WriteStream
from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.codec import LIMITS, read_from_hub, write_to_hub
from mcpframe.hub.core.messages import FromProxy
from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.tab_browser import TabBrowser
from mcpframe.hub.homes.page.wire import ChannelNames
from mcpframe.hub.relay.relay import Relay

log = logging.getLogger(__name__)


class ServerOffer:
    """A server, served to one hub after another, with a new session for each.

    Args:
        server: The server object.

    Attributes:
        port: The port; its owner starts and stops it.
    """

    def __init__(self, place: TabBrowser, names: ChannelNames, server: Any) -> None:
        self._place = place
        self._server = server
        self._serving = server_module(target=server)
        self._messages = self._serving.messages()
        self._background = BackgroundTasks()
        self._session: asyncio.Task[None] | None = None
        self.port = Dialled(place, names, "tools")
        self.port.on_open = self._opened
        self.port.on_lost = self._lost

    async def end(self) -> None:
        """End the port and the server's sessions."""
        self.port.stop()
        await self._background.end()

    def _opened(self) -> None:
        self.port.control("seen", active=self._place.is_seen())
        incoming, read = anyio.create_memory_object_stream[Any](math.inf)
        port = self.port

        def to_hub(message: FromProxy) -> None:
            port.post(write_to_hub(message))

        def to_page(message: Any) -> None:
            incoming.send_nowait(self._messages.read(message))

        relay = Relay(to_page, to_hub, self._place.clock, url=self._place.url)

        def heard(text: str) -> None:
            try:
                if (message := read_from_hub(text)) is not None:
                    relay.from_hub(message)
            except MessageError as error:
                log.warning("A message of the hub is ignored: %s", error)

        port.on_message = heard
        self._session = self._background.start(self._serve(read, _RelayWriter(relay, self._messages)))

        def ended(_: object) -> None:  # also before it has begun
            relay.page_ended()
            incoming.close()
            read.close()

        self._session.add_done_callback(ended)
        relay.start()

    async def _serve(self, read: Any, write: WriteStream) -> None:
        """Serve a session with a hub, which keeps values of its own (`serving.kept`)."""
        with self._server.running_for(PeerSession(_no_session)) if isinstance(self._server, Framed) else nullcontext():
            await self._serving.serve(self._server, read, write)

    def _lost(self) -> None:
        if self._session is not None:
            self._session.cancel()


def _no_session() -> NoReturn:
    raise StateError("A call of a hub has no session with a host: keep values elsewhere, or with mcpframe.kept.")


class _RelayWriter(WriteStream):
    """The write stream of a server whose client is a relay."""

    def __init__(self, relay: Relay, texts: Any) -> None:
        self._relay = relay
        self._texts = texts

    async def send(self, item: Any, /) -> None:
        self._relay.from_page(payload.parse(self._texts.text(item), **LIMITS))
