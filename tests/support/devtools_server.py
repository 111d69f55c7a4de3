"""A server of DevTools over a WebSocket, in this process, for tests of their client."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, Pong, RejectConnection, Request, TextMessage

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(handler: Handler, secure: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator[str]:
    """Run a server, and yield its host and port. Its connections end with it."""
    connections: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer)
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port, ssl=secure)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()
        for writer in connections:
            writer.transport.abort()


class Browser:
    """A server that answers as the DevTools of a browser do.

    Attributes:
        results: the result of a command by its name; an exception is its error. By default it is the parameters.
        commands: the names of all commands.
    """

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.commands: list[str] = []
        self.pongs = 0
        self.targets: list[str] = []
        self.heard: list[Any] = []
        self.refused = b"not refused"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /json/version"):
            self.targets.append(head.split()[1].decode())
            if b"\r\nHost: " + self.refused in head:
                writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 15\r\n\r\nHost is refused")
                await writer.drain()
                return
            body = json.dumps({"webSocketDebuggerUrl": "ws://elsewhere:1/devtools/browser/abc"}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            return
        protocol = WSConnection(ConnectionType.SERVER)
        protocol.receive_data(head)
        while True:
            for event in protocol.events():
                if isinstance(event, Request):
                    self.targets.append(event.target)
                    if event.target.partition("?")[0] != "/devtools/browser/abc":
                        writer.write(protocol.send(RejectConnection(status_code=403)))
                        return
                    writer.write(protocol.send(AcceptConnection()))
                elif isinstance(event, TextMessage):
                    self._heard(protocol, writer, event)
                elif isinstance(event, Pong):
                    self.pongs += 1
                elif isinstance(event, CloseConnection):
                    return
            data = await reader.read(65536)
            if not data:
                return
            protocol.receive_data(data)

    def _heard(self, protocol: WSConnection, writer: asyncio.StreamWriter, event: TextMessage) -> None:
        self.heard.append(event.data)
        if not event.message_finished:
            return
        message = json.loads("".join(self.heard))
        self.heard.clear()
        if message["method"] == "close":
            writer.write(protocol.send(CloseConnection(1000)))
            return
        if message["method"] == "garbage":
            writer.write(b"\xff" * 100)
            return
        self.commands.append(message["method"])
        result = self.results.get(message["method"], {"params": message["params"]})
        outcome = {"error": {"message": str(result)}} if isinstance(result, Exception) else {"result": result}
        answer = json.dumps({"id": message["id"], **outcome}, ensure_ascii=False)
        half = len(answer) // 2
        writer.write(protocol.send(TextMessage(answer[:half], message_finished=False)))
        writer.write(protocol.send(Ping(b"there?")))
        writer.write(protocol.send(TextMessage(answer[half:])))
