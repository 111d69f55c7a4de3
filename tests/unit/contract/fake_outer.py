"""The outer frame over fake windows, and a page that a test plays by hand, both without a browser.

The third of the outer frames that the contract is for; the other two are in `tests/browser/outers.py`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import anyio

from mcpframe.frame.core.events import Inbound
from mcpframe.frame.core.places import Framing
from tests.contract.outer import PATIENCE
from tests.contract.python_outer import PythonOuter
from tests.support.fake_place import FakePlace
from tests.support.fake_window import FakeWindow

HOST = "http://host.localhost:1"


class FakeFrame:
    """The counterpart of `pages/page.js` in a browser: it records messages, and posts on request."""

    def __init__(self, window: FakeWindow, url: str) -> None:
        self._window = window
        self._heard: list[dict[str, Any]] = []
        self._changed = asyncio.Event()
        query = urlsplit(url).query
        self._plays_inner = query.startswith("inner")
        self._shakes_hands = self._plays_inner or query == "handshake"
        window.listen(self._hear, lambda departure: None)

    def start(self) -> None:
        """Be loaded."""
        if self._shakes_hands:
            self.post({"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"})

    def post(self, message: Any) -> None:
        """Post to whoever frames this page."""
        self._window.post(json.dumps(message, separators=(",", ":"), ensure_ascii=False), "*")  # as JSON.stringify

    def _hear(self, event: Inbound) -> None:
        data = json.loads(event.read())
        self._heard.append({"origin": event.origin, "data": data})
        self._changed.set()
        if not self._plays_inner:
            return
        if data["type"] == "MCP_TRANSPORT_HANDSHAKE_REPLY":
            self.post({"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": data["sessionId"]})
        elif data["type"] == "MCP_MESSAGE" and data["payload"].get("method") == "echo":
            id_, params = data["payload"]["id"], data["payload"].get("params", {})
            self.post({"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": id_, "result": params}})

    async def say(self, message: Any) -> None:
        """As `playing.say`."""
        self.post(message)
        await anyio.wait_all_tasks_blocked()

    async def heard(self, count: int) -> list[dict[str, Any]]:
        """As `playing.heard`."""
        with anyio.fail_after(PATIENCE):
            while len(self._heard) < count:
                self._changed = asyncio.Event()
                await self._changed.wait()
        return list(self._heard)

    async def evaluate(self, expression: str) -> list[dict[str, Any]]:
        """Return what was heard: the one thing that a test of the contract asks a page besides."""
        assert expression == "heard"
        return list(self._heard)

    async def wait_for_function(self, *_: object, **__: object) -> None:
        """A fake page is loaded from the beginning."""


class FakeOuter(PythonOuter):
    """`Session` and `OuterFrame` over fake windows."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # there is no page

    async def _open_window(self, url: str, sandbox: str | None) -> FakeWindow:
        parts = urlsplit(url)
        is_opaque = sandbox is not None and "allow-same-origin" not in sandbox
        window, inner = FakeWindow.pair(HOST, "null" if is_opaque else f"{parts.scheme}://{parts.netloc}")
        self._frame = FakeFrame(inner, url)
        self._frame.start()  # what it posts is delivered later
        return window

    def _make_place(self, *, popup: bool) -> FakePlace:
        async def page(window: FakeWindow, framing: Framing) -> None:
            self._frame = FakeFrame(window, framing.url)
            self._frame.start()
            await anyio.sleep_forever()

        return FakePlace(HOST, page)

    async def inner(self) -> Any:
        await anyio.wait_all_tasks_blocked()
        return self._frame

    async def framed(self) -> Any:
        return await self.inner()
