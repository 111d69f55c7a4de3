"""A host without an SDK: asks the page that boots over fake windows, JSON-RPC in and out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from mcpframe.frame.boot import boot
from mcpframe.frame.core.connection import parse_allowed_origins
from mcpframe.frame.core.events import Departure
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.session.session import open_session
from tests.support.fake_window import FakeWindow
from tests.support.sep import alone

HOST = "https://chat.example"
FRAME = "https://tools.example"
CLIENT = {"name": "tests", "version": "1"}
TIMING = {"start": "plain", "marks": {"ready": 700}}


class PlainClient:
    """Sends requests and collects messages.

    Attributes:
        notifications: received messages that are not answers.
    """

    def __init__(self, read: Any, write: Any) -> None:
        self.notifications: list[dict[str, Any]] = []
        self._read, self._write = read, write
        self._last = 0
        self._answers: dict[Any, dict[str, Any]] = {}

    async def notify(self, method: str, **params: Any) -> None:
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        await self._write.send((json.dumps(body), body))

    async def ask(self, method: str, **params: Any) -> int:
        """Send a request, and return its id."""
        self._last += 1
        body = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        await self._write.send((json.dumps(body), body))
        return self._last

    async def answer(self, id_: int) -> dict[str, Any]:
        """Wait for the answer to a request; other messages go to `notifications`."""
        while id_ not in self._answers:
            body = await self._read.receive()
            if "method" in body:
                self.notifications.append(body)
            else:
                self._answers[body["id"]] = body
        return self._answers.pop(id_)

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its answer: the whole message."""
        return await self.answer(await self.ask(method, **params))

    async def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        """Do the handshake, and return its result."""
        answer = await self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)
        await self.notify("notifications/initialized")
        result: dict[str, Any] = answer["result"]
        return result

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its result."""
        answer = await self.request("tools/call", name=name, arguments=arguments)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def call_answering(self, name: str, method: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Call a tool that makes one request of this method to the client, answer it, and return the call's result."""
        call = await self.ask("tools/call", name=name, arguments={})
        body: dict[str, Any] = {}
        while body.get("method") != method:
            body = await self._read.receive()
            assert body.get("id") != call or "method" in body, body
        reply = {"jsonrpc": "2.0", "id": body["id"], "result": answer}
        await self._write.send((json.dumps(reply), reply))
        result: dict[str, Any] = (await self.answer(call))["result"]
        return result


class QuietPage:
    """The loader's callbacks, kept as a list of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *texts: self.calls.append((name, *texts))

    def timing(self) -> str:
        return json.dumps(TIMING)


@asynccontextmanager
async def framed(page: Any, window: ModuleType, entry: str, **config: Any) -> AsyncIterator[PlainClient]:
    """Boot a page and connect to it.

    Args:
        page: the loader's callbacks.
        window: a stand-in for `mcpframe.frame.browser.window`.
        entry: of the server.
        config: more of the boot config.
    """
    outer, inner = FakeWindow.pair(HOST, FRAME)
    window.host_window = lambda: inner  # type: ignore[attr-defined]
    window.own_origin = lambda: FRAME  # type: ignore[attr-defined]
    window.fragment = lambda: ""  # type: ignore[attr-defined]
    window.query = lambda: ""  # type: ignore[attr-defined]
    window.takes_tools = lambda name: False  # type: ignore[attr-defined]
    text = json.dumps({"entry": entry, "name": "test", "title": "Test", "allowed_origins": [HOST], **config})
    running = asyncio.create_task(boot.main(text, page))
    connection = alone(sep.OUTER_TRANSPORT, parse_allowed_origins([FRAME]), session_id="session-1")
    try:
        async with open_session(connection, outer, messages=PlainMessages()) as session:
            yield PlainClient(*session.streams)
        inner.peer_departs(Departure.REMOVED)
        await asyncio.wait([running], timeout=10)
        assert running.done()
    finally:
        running.cancel()
        await asyncio.wait([running])
