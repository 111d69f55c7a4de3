"""The DevTools of a running Chromium over a WebSocket, as a client of RFC 6455.

The protocol is in `wsproto`. Without a proxy, TLS and compression: the browser is on this machine, or at
the end of a tunnel to another one.
"""

from __future__ import annotations

import asyncio
import http.client
import json
from collections import deque
from urllib.parse import urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.protocol import HEAD, LONGEST, in_place_of

CONNECT_SECONDS = 15.0
"""Seconds for the browser to accept the connection: a user may have to allow it there."""
_CHUNK = 1 << 16
_MOST_OF_ANSWER = 1 << 20
_HELP = "start it with --remote-debugging-port=9222 and a --user-data-dir of its own, and attach to that port"


class WebSocketWire:
    """A `DevToolsWire` over a WebSocket; `connect` creates it.

    Client libraries close a connection on a message over their limit. A page could end the hub that way, as its console
    is part of DevTools. This client skips such a message, and its command fails (`in_place_of`).
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._messages: deque[str] = deque()
        self._parts: list[str] = []
        self._size = 0

    async def open(self, host: str, target: str) -> None:
        """Ask the browser to accept the connection.

        Raises:
            BrowserGone: It does not accept it.
        """
        self._writer.write(self._protocol.send(Request(host=host, target=target)))
        while data := await self._reader.read(_CHUNK):
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                if isinstance(event, AcceptConnection):
                    return
                if isinstance(event, RejectConnection):
                    raise BrowserGone(f"The browser at {host} answers with status {event.status_code}: {_HELP}.")
        raise BrowserGone(f"The browser at {host} has closed the connection: {_HELP}.")

    async def receive(self) -> str:
        """Return the next message. Raises `EOFError` when the connection has ended."""
        try:
            self._take()
            while not self._messages:
                data = await self._reader.read(_CHUNK)
                if not data:
                    raise EOFError
                self._protocol.receive_data(data)
                self._take()
        except ProtocolError as error:
            raise EOFError from error
        return self._messages.popleft()

    def _take(self) -> None:
        for event in self._protocol.events():
            if isinstance(event, TextMessage):
                self._parts.append(event.data)
                self._size += len(event.data)
                if self._size > LONGEST:
                    self._parts = ["".join(self._parts)[:HEAD]]
                if event.message_finished:
                    whole = "".join(self._parts)
                    if whole := whole if self._size <= LONGEST else in_place_of(whole):
                        self._messages.append(whole)
                    self._parts, self._size = [], 0
            elif isinstance(event, Ping):
                self._writer.write(self._protocol.send(event.response()))
            elif isinstance(event, CloseConnection):
                raise EOFError

    def send(self, text: str) -> None:
        """Send a message. It is lost if the connection has ended."""
        if not self._writer.is_closing():
            try:
                self._writer.write(self._protocol.send(TextMessage(text)))
            except ProtocolError:
                self._writer.close()

    def close(self) -> None:
        """End the connection. The browser, and its tabs, stay."""
        self._writer.close()


async def connect(address: str) -> WebSocketWire:
    """Connect to the DevTools of a browser.

    Args:
        address: `http://127.0.0.1:9222`, which returns the address of its WebSocket; or that address, `ws://…`.

    Raises:
        BrowserGone: No browser listens there, or it does not accept the connection.
    """
    parts = urlsplit(address)
    host = parts.netloc
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            if parts.scheme == "http":
                target = await asyncio.to_thread(_target, parts.hostname or "", parts.port or 80)
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
            wire = WebSocketWire(reader, writer)
            try:
                await wire.open(host, target)
            except BaseException:
                wire.close()
                raise
    except (OSError, ValueError, ProtocolError, http.client.HTTPException) as error:  # a TimeoutError is an OSError
        reason = str(error) or f"no answer within {CONNECT_SECONDS:g} s"
        raise BrowserGone(f"Cannot attach to a browser at {address} ({reason}): {_HELP}.") from error
    return wire


def _target(host: str, port: int) -> str:
    """Ask a browser for the path of its WebSocket; behind a tunnel, it does not know its own host and port."""
    connection = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    try:
        connection.request("GET", "/json/version")
        response = connection.getresponse()
        found = json.loads(response.read(_MOST_OF_ANSWER))
    finally:
        connection.close()
    url = found.get("webSocketDebuggerUrl") if isinstance(found, dict) else None
    if not isinstance(url, str):
        raise ValueError("it does not say where its DevTools are")
    return urlsplit(url).path
