"""The WebSocket to a browser that runs already: against a server of the same protocol, and against what is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, Pong, RejectConnection, Request, TextMessage

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import websocket
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.devtools.websocket import connect

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[str]:
    """Run a server, and yield its host and port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()


class Browser:
    """What answers as the DevTools of a browser do."""

    def __init__(self) -> None:
        self.pongs = 0
        self.targets: list[str] = []
        self.heard: list[Any] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /json/version "):
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
                    if event.target != "/devtools/browser/abc":
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
        answer = json.dumps({"id": message["id"], "result": {"params": message["params"]}}, ensure_ascii=False)
        half = len(answer) // 2
        writer.write(protocol.send(TextMessage(answer[:half], message_finished=False)))
        writer.write(protocol.send(Ping(b"there?")))
        writer.write(protocol.send(TextMessage(answer[half:])))


async def test_commands_are_answered_over_it_and_its_end_is_the_browsers() -> None:
    browser = Browser()
    async with listening(browser) as place:
        devtools = DevTools(await connect(f"http://{place}"))
        text = "\u00e9\U0001f600" * 200_000
        for params in ({"a": 1}, {"text": text}):
            assert (await devtools.command("echo", **params))["params"] == params
        assert browser.targets == ["/devtools/browser/abc"]
        assert browser.pongs == 2
        with pytest.raises(BrowserGone):
            await devtools.command("close")
        assert devtools.closed.done()
        with pytest.raises(BrowserGone):
            await devtools.command("echo")
        await devtools.close()


async def test_a_message_that_is_too_long_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page chooses what it answers."""
    monkeypatch.setattr(websocket, "LONGEST", 100_000)
    async with listening(Browser()) as place:
        devtools = DevTools(await connect(f"http://{place}"))
        for _ in range(2):
            with pytest.raises(BrowserGone, match="too long"):
                await devtools.command("echo", text="x" * 1_000_000)
            assert (await devtools.command("echo", a=1))["params"] == {"a": 1}
        await devtools.close()


async def test_what_is_no_websocket_any_more_is_the_end() -> None:
    async with listening(Browser()) as place:
        devtools = DevTools(await connect(f"ws://{place}/devtools/browser/abc"))
        with pytest.raises(BrowserGone):
            await devtools.command("garbage")
        await devtools.close()


async def answers(text: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(text)
    await writer.drain()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{"webSocketDebuggerUrl": [1]}',
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
@pytest.mark.parametrize("address", ["http://{}", "ws://{}/devtools/browser/abc"])
async def test_what_is_no_browser_is_told(text: bytes, address: str) -> None:
    async with listening(lambda reader, writer: answers(text, reader, writer)) as place:
        with pytest.raises(BrowserGone, match="remote-debugging-port"):
            await connect(address.format(place))


async def test_a_browser_that_refuses_or_is_silent_or_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(Browser()) as place:
        with pytest.raises(BrowserGone, match="403"):
            await connect(f"ws://{place}/other")
    with pytest.raises(BrowserGone):
        await connect(f"http://{place}")
    monkeypatch.setattr(websocket, "CONNECT_SECONDS", 0.1)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as place:
        for address in (f"http://{place}", f"ws://{place}/devtools/browser/abc"):
            with pytest.raises(BrowserGone):
                await connect(address)
