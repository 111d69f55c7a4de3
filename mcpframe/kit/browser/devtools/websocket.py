"""The DevTools of a running Chromium over a WebSocket, as a client of RFC 6455.

The protocol is in `wsproto`. It is encrypted (TLS) for `wss` and `https`. There is no proxy and no compression.
"""

from __future__ import annotations

import asyncio
import http
import http.client
import json
import ssl
from collections import deque
from urllib.parse import urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from mcpframe.kit.base.download import not_trusted
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.address import DevToolsAddress, authority
from mcpframe.kit.browser.devtools.protocol import HEAD, LONGEST, in_place_of

CONNECT_SECONDS = 15.0
"""Seconds for the browser to accept the connection: a user may have to allow it there."""
_CHUNK = 1 << 16
_MOST_OF_ANSWER = 1 << 20
_HELP = (
    "start it with --remote-debugging-port=9222 and a --user-data-dir of its own, and give that port's address; for a "
    "browser of a service, check its address and token"
)


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

        Args:
            host: The header `Host`.
            target: The path and the query.

        Raises:
            ValueError: It does not accept it.
        """
        self._writer.write(self._protocol.send(Request(host=host, target=target)))
        while data := await self._reader.read(_CHUNK):
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                if isinstance(event, AcceptConnection):
                    return
                if isinstance(event, RejectConnection):
                    raise ValueError(_refusal(event.status_code))
        raise ValueError("it has closed the connection")

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

    def send(self, *pieces: str) -> None:
        """Send a message, each piece in a frame of its own. It is lost if the connection has ended."""
        if not self._writer.is_closing():
            try:
                for number, piece in enumerate(pieces, 1):
                    is_last = number == len(pieces)
                    self._writer.write(self._protocol.send(TextMessage(piece, message_finished=is_last)))
            except ProtocolError:
                self._writer.close()

    def close(self) -> None:
        """End the connection. The browser, and its tabs, stay.

        What is not sent yet is dropped: else the files for a machine that is gone would be in memory until the system
        gives up sending them, a quarter of an hour later.
        """
        if self._writer.transport.get_write_buffer_size():
            self._writer.transport.abort()
        else:
            self._writer.close()


async def connect(address: str) -> WebSocketWire:
    """Connect to the DevTools of a browser.

    Args:
        address: As for `DevToolsAddress.parse`. Neither its path nor its query are in errors.

    Raises:
        BrowserGone: No browser listens there, or it does not accept the connection.
        ValueError: It is no address.
    """
    place = DevToolsAddress.parse(address)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            name, target = place.authority, place.with_query(place.path)
            if not place.path:
                name, target = await asyncio.to_thread(_ask, place)
            secure = ssl.create_default_context() if place.secure else None
            reader, writer = await asyncio.open_connection(place.host, place.port, ssl=secure)
            wire = WebSocketWire(reader, writer)
            try:
                await wire.open(name, target)
            except BaseException:
                wire.close()
                raise
    except (OSError, ValueError, ProtocolError, http.client.HTTPException) as error:  # a TimeoutError is an OSError
        if untrusted := not_trusted(f"https://{place.authority} {error}"):
            raise BrowserGone(str(untrusted)) from None
        reason = str(error) or f"no answer within {CONNECT_SECONDS:g} s"
        raise BrowserGone(f"Cannot attach to a browser at {place} ({reason}): {_HELP}.") from None
    return wire


def _ask(place: DevToolsAddress) -> tuple[str, str]:
    """Ask a browser for its WebSocket; return the header `Host` that it accepts, and the path with the query.

    Behind a tunnel or a proxy a browser does not know its own host and port, so those of the address are used.
    """
    status, body, ip = _get_version(place, place.authority)
    name = place.authority
    if status == http.HTTPStatus.INTERNAL_SERVER_ERROR and b"Host" in body and not place.secure:
        # Against DNS rebinding, Chromium accepts only an IP address or localhost, and a container has a name.
        name = authority(ip, place.port, secure=False)
        status, body, _ = _get_version(place, name)
    if status != http.HTTPStatus.OK:
        raise ValueError(_refusal(status))
    answer = json.loads(body)
    url = answer.get("webSocketDebuggerUrl") if isinstance(answer, dict) else None
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("ws", "wss"):
        raise ValueError("it does not say where its DevTools are")
    return name, place.with_query(f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/")


def _get_version(place: DevToolsAddress, name: str) -> tuple[int, bytes, str]:
    """Return the status and the body of `/json/version`, and the browser's IP address."""
    kind = http.client.HTTPSConnection if place.secure else http.client.HTTPConnection
    connection = kind(place.host, place.port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        ip: str = connection.sock.getpeername()[0]
        connection.request("GET", place.with_query(place.version_path), headers={"Host": name})
        response = connection.getresponse()
        return response.status, response.read(_MOST_OF_ANSWER), ip
    finally:
        connection.close()


def _refusal(status: int) -> str:
    return f"it answers with status {status}"
