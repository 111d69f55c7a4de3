"""`mcpframe hub --connect`: connects a client over stdio to the hub in the extension of the user's browser.

Assistants start it, and many give up for good on a server that does not answer. So the client is always served: while
no browser with the extension runs, by a hub without tools. When the browser starts, ends or reloads the extension, the
client's setup is repeated to the next hub (`ReopeningLink`), and the client is notified that the tools have changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.jsonrpc import RequestId
from mcpframe.frame.core.limits import DEEPEST_NESTING, MESSAGE_BYTES
from mcpframe.frame.core.outline import outline
from mcpframe.hub.core.errors import TabNotFound
from mcpframe.hub.core.interfaces import UNNAMED, Caller, OnProgress
from mcpframe.hub.core.messages import LIST_CHANGES
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import LinkedPage, ReopeningLink
from mcpframe.kit.edges.stdio.edge import serve_stdio
from mcpframe.kit.edges.stdio.lines import Broken, Lines
from mcpframe.kit.hub.log import hub_log
from mcpframe.kit.hub.native.meeting_place import connected, native_folder
from mcpframe.kit.hub.native.sessions import server_message_of

log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_MOST_BYTES = 4 * MESSAGE_BYTES
"""The longest message that the program passes on, in UTF-8. The hub has checked its content."""
_FIRST_SECONDS = 1.0
"""Seconds to wait for a browser that is just starting the program."""
_INTERVAL = 0.5
_LISTEN = "subscriptions/listen"
_ENDED = "The connection to the hub has ended: the browser, or its extension, has ended or starts again."
_NO_BROWSER = (
    "No browser with the extension of mcpframe runs, or it may not start the program: start the browser, and look at "
    "the extension's popup."
)


def run_connect() -> None:
    """Serve one client on the standard streams until they end."""
    with hub_log():
        asyncio.run(_main(native_folder()))


async def _main(folder: Path) -> None:
    with ended_by_signals():
        async with Connections(folder).running() as connections:
            await serve_stdio(connections.open_page, command="mcpframe hub", reopening_note="")


class Connections:
    """Opens a page for a link: a connection to the program that the browser has started, or a hub without tools.

    Args:
        folder: The folder of the socket: see `meeting_place`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: socket.socket | None = None
        self._has_opened = False
        self._server = HubServer(_NoBrowser(), version=version("mcpframe"))
        self._clients = HubClients(self._server)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Connections]:
        """Open pages for the duration of the block."""
        async with self._server.running(), self._clients.running():
            try:
                yield self
            finally:
                if self._found is not None:
                    self._found.close()

    async def open_page(self, link: ReopeningLink) -> LinkedPage:
        """Open a page; see `OpenPage`. Always succeeds."""
        client, self._found = self._found or connected(self._folder), None
        if client is None and not self._has_opened:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_SECONDS):
                    client = await self._connected()
        for method in LIST_CHANGES if self._has_opened else ():  # the client's lists are outdated
            changed = ServerMessage(payload.encode({"jsonrpc": "2.0", "method": method}), None, method)
            asyncio.get_running_loop().call_soon(link.on_message, changed)
        self._has_opened = True
        if client is None:
            log.info("%s", _NO_BROWSER)
            return _StandIn(link, self._clients, self._browser())
        reader, writer = await asyncio.open_unix_connection(sock=client)
        return _Connection(link, reader, writer)

    async def _browser(self) -> None:
        """Wait for a browser."""
        self._found = await self._connected()

    async def _connected(self) -> socket.socket:
        """Wait for a browser, and return a connection."""
        while (client := connected(self._folder)) is None:  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(_INTERVAL)
        return client


class _Page:
    """The common methods of `_Connection` and `_StandIn`."""

    async def complete(self) -> None:
        """Do nothing: all files are loaded."""

    def await_answer(self, still: Callable[[], bool]) -> None:
        """Do nothing: the hub has its own deadlines."""

    def answer_cancelled(self) -> None:
        """Do nothing."""


class _Connection(_Page):
    """A session with the hub in the browser."""

    def __init__(self, link: ReopeningLink, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._link = link
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader))

    def send(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "surrogatepass") + b"\n")

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})
        self._writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        self._link.on_gone(await self._pass_on(reader))

    async def _pass_on(self, reader: asyncio.StreamReader) -> str:
        """Pass messages on to the client, and return the reason why they end."""
        lines = Lines(max_bytes=_MOST_BYTES, max_nesting=DEEPEST_NESTING)
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                for line in lines.feed(data):
                    if isinstance(line, Broken):  # a request might wait for it
                        return f"A message of the hub cannot be read: {line.error}"
                    self._link.on_message(server_message_of(line.text))
        return _ENDED


class _StandIn(_Page):
    """A session with a hub without tools, until a browser connects."""

    def __init__(self, link: ReopeningLink, clients: HubClients, browser: Coroutine[Any, Any, None]) -> None:
        self._link = link
        self._clients = clients
        self._port = _LinkPort(link)
        self._waiting = asyncio.create_task(self._wait(browser))
        clients.connected(self._port)

    def send(self, text: str) -> None:
        self._port.sends(text)
        self._clients.received(self._port, text)

    async def close(self) -> None:
        self._waiting.cancel()
        await asyncio.wait({self._waiting})
        self._clients.closed(self._port)

    async def _wait(self, browser: Coroutine[Any, Any, None]) -> None:
        await browser
        self._clients.closed(self._port)
        self._link.on_gone("The browser is there.", self._port.unanswered)


class _LinkPort:
    """The client of the hub without tools: a `ClientPort`.

    Attributes:
        unanswered: The requests without an answer, by id, except subscriptions, whose end the client has to receive.
    """

    def __init__(self, link: ReopeningLink) -> None:
        self._link = link
        self.unanswered: dict[RequestId, str] = {}

    def sends(self, text: str) -> None:
        """Record a message of the client."""
        head = outline(text)
        if head.kind == "request" and isinstance(head.id, str | int) and head.method != _LISTEN:
            self.unanswered[head.id] = text

    def post(self, text: str) -> None:
        message = server_message_of(text)
        if message.method is None and message.id is not None:
            self.unanswered.pop(message.id, None)
        self._link.on_message(message)

    def close(self) -> None:
        """Do nothing; see `ClientPort.close`."""


class _NoBrowser:
    """A hub without tools: a `ServedHub`."""

    @property
    def definitions(self) -> list[dict[str, Any]]:
        return []

    @property
    def resources(self) -> list[dict[str, Any]]:
        return []

    @property
    def templates(self) -> list[dict[str, Any]]:
        return []

    @property
    def browser(self) -> dict[str, bool]:
        return {}

    async def settled(self) -> None:
        """Return at once: it has no tools."""

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None, client: Caller = UNNAMED
    ) -> Any:
        raise TabNotFound(_NO_BROWSER)

    async def read(self, uri: str, on_progress: OnProgress | None = None, client: Caller = UNNAMED) -> Any:
        raise TabNotFound(_NO_BROWSER)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        return lambda: None
