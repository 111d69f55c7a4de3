"""An outer frame whose framed page is a few lines of Python: as much of `pages/page.js` as the contract needs."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import anyio

from mcpframe.frame.events import Departure, Inbound
from tests.browser.outers import PythonOuter
from tests.support.fake_window import FakeWindow

HOST = "http://host.localhost:8000"


class FakeFrame:
    """A framed page, played by hand as `pages/page.js` is, behind what the tests use of Playwright's `Frame`."""

    def __init__(self, url: str, *, opaque: bool) -> None:
        """Load the page at this address."""
        self.outer, self.window = FakeWindow.pair(HOST, "null" if opaque else origin_of(url))
        self.heard: list[dict[str, Any]] = []
        self._changed = anyio.Event()
        self._plays_inner = urlsplit(url).query == "inner"

    def start(self) -> None:
        """Run the page's script."""
        self.window.listen(self._hear, lambda departure: None)
        if self._plays_inner:
            self._post({"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"})

    async def evaluate(self, expression: str, argument: Any = None) -> Any:
        """Do the few things the contract's tests ask of a page."""
        if expression == "heard":
            await anyio.wait_all_tasks_blocked()
            return list(self.heard)
        if expression == "text => say(text)":
            self._post(json.loads(argument))
            return None
        if expression == "location.reload()":
            self.outer.peer_departs(Departure.REPLACED)
            return None
        raise AssertionError(f"a fake page cannot {expression}")

    async def wait_for_function(self, expression: str, *, arg: Any = None, **_: float) -> None:
        """Wait until the page has heard so many messages; it is always loaded."""
        if expression == "count => heard.length >= count":
            while len(self.heard) < arg:
                self._changed = anyio.Event()
                await self._changed.wait()
        else:
            assert expression == "() => typeof say === 'function'"

    async def goto(self, url: str) -> None:
        """Navigate: the page that was is gone, and what is there now has heard nothing."""
        self.heard.clear()
        self.window.origin = origin_of(url)
        self.outer.peer_departs(Departure.REPLACED)

    def _post(self, message: Any) -> None:
        self.window.post(json.dumps(message, separators=(",", ":"), ensure_ascii=False), "*")

    def _hear(self, event: Inbound) -> None:
        data = json.loads(event.read())
        self.heard.append({"origin": event.origin, "data": data})
        self._changed.set()
        if not self._plays_inner:
            return
        if data["type"] == "MCP_TRANSPORT_HANDSHAKE_REPLY":
            self._post({"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": data["sessionId"]})
        elif data["type"] == "MCP_MESSAGE" and data["payload"].get("method") == "echo":
            id_, params = data["payload"]["id"], data["payload"].get("params", {})
            self._post({"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": id_, "result": params}})


class FakeOuter(PythonOuter):
    """The connection in CPython over a `FakeWindow`."""

    def __init__(self) -> None:
        """Be an outer frame without a page."""
        super().__init__(page=None)  # type: ignore[arg-type]

    async def _open_window(self, url: str, sandbox: str | None) -> FakeWindow:
        opaque = sandbox is not None and "allow-same-origin" not in sandbox
        self.frame = FakeFrame(url, opaque=opaque)
        self._stack.callback(self.frame.outer.peer_departs, Departure.REMOVED)
        return _Loading(self.frame).outer

    async def inner(self) -> Any:
        return self.frame


class _Loading:
    """Runs the page's script once the outer frame listens, as navigating after listening does."""

    def __init__(self, frame: FakeFrame) -> None:
        self.outer = frame.outer
        listen = self.outer.listen

        def listen_then_load(*callbacks: Any) -> Any:
            stop = listen(*callbacks)
            frame.start()
            return stop

        self.outer.listen = listen_then_load  # type: ignore[method-assign]


def origin_of(url: str) -> str:
    """Give the origin of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
