"""A page as the hub's half in it shows it: a window, frames, and servers in them that answer when a test says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcpframe.hub.core.frame_numbers import FrameNumbers
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.relay.page_relay import OWN_WINDOW, PageRelay
from tests.support.fake_hub import HubWorld, hub_world
from tests.support.mcpb import server_result, to_client
from tests.support.settling import settled

TAB_CHANNEL, FRAME_CHANNEL = "mcp-default", "mcp-iframe"


class FakeServer:
    """An MCP-B server in one document, which answers at once. `silent` keeps it from answering calls."""

    def __init__(self, page: FakeHalf, source: int, origin: str, *tools: Any, url: str = "") -> None:
        self.page = page
        self.source = source
        self.origin = origin
        self.url = url
        self.tools = list(tools)
        self.silent = self.deaf = False
        self.calls: list[tuple[str, Any]] = []
        self.channel = FRAME_CHANNEL if source else TAB_CHANNEL
        page.servers[source] = self

    def says(self, payload: Any, **other: Any) -> None:
        message = to_client(payload, self.channel)
        self.page.message(self.source, other.get("origin", self.origin), message, self.url)

    def ready(self) -> FakeServer:
        self.says("mcp-server-ready")
        return self

    def stops(self) -> None:
        self.says("mcp-server-stopped")

    def changes(self, *tools: Any) -> None:
        self.tools = list(tools)
        self.says({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def takes(self, payload: Any) -> None:
        if self.deaf:
            return
        if payload == "mcp-check-ready":
            self.ready()
        elif "id" in payload and "method" in payload:
            self.asked(payload["id"], payload["method"], payload.get("params") or {})

    def asked(self, id_: Any, method: str, params: Any) -> None:
        if method == "tools/call":
            self.calls.append((params["name"], params["arguments"]))
            if self.silent:
                return
        result = server_result(method, params, self.tools, self.origin)
        self.says({"jsonrpc": "2.0", "id": id_, "result": result})


class FakeHalf:
    """The script `page.js`: what it is told, and what it reports."""

    def __init__(self, world: HubWorld) -> None:
        self.world = world
        self.relay: PageRelay | None = None
        self.servers: dict[int, FakeServer] = {}
        self.posted: list[tuple[int, Any, str]] = []
        """The source, the message and its target origin of whatever was posted to a window."""
        self.watched: dict[int, bool] = {}
        self.listens = False
        self._kept: list[dict[str, Any]] = []
        self._serving: asyncio.Task[None] | None = None

    def tell(self, function: str, *arguments: Any) -> None:
        if function in ("listen", "stop"):
            self.listens = function == "listen"
            for report in self._kept:
                asyncio.get_running_loop().call_soon(self._report, report)
            self._kept.clear()
        elif function == "watch":
            self.watched[arguments[0]] = arguments[1]
        else:
            source, text, origin = arguments
            message = json.loads(text)
            self.posted.append((source, message["payload"], origin))
            server = self.servers.get(source)
            if server is not None and origin == server.origin:
                asyncio.get_running_loop().call_soon(server.takes, message["payload"])

    def report(self, kind: str, source: int, **members: Any) -> None:
        report = {"kind": kind, "source": source, **members}
        if self.listens:
            self._report(report)
        elif source != OWN_WINDOW:
            self._kept.append(report)

    def _report(self, report: dict[str, Any]) -> None:
        assert self.relay is not None
        self.relay.report(report)

    def message(self, source: int, origin: str, message: Any, url: str = "") -> None:
        self.report("message", source, origin=origin, text=json.dumps(message), url=url)

    def server(self, origin: str, *tools: Any) -> FakeServer:
        """Have a page server."""
        return FakeServer(self, OWN_WINDOW, origin, *tools)

    def frame(self, source: int, url: str, *tools: Any) -> FakeServer:
        """Have a frame with a server."""
        return FakeServer(self, source, "/".join(url.split("/")[:3]), *tools, url=url)

    def begin(self, relay: PageRelay) -> None:
        self.relay = relay
        self._serving = asyncio.create_task(relay.serve())

    async def end(self) -> None:
        """Have the document be gone."""
        if self._serving is not None and self.relay is not None:
            self.relay.close()
            self._serving.cancel()
            await asyncio.wait({self._serving})

    def to(self, source: int) -> list[Any]:
        """Return what was posted to a window."""
        return [payload for each, payload, _ in self.posted if each == source]


Pages = Callable[..., FakeHalf]


@asynccontextmanager
async def pages_world(
    allows: Callable[[str], bool] = lambda url: True, options: HubOptions | None = None
) -> AsyncIterator[tuple[HubWorld, Pages]]:
    """Yield a hub, and a function that has a document be in a tab."""
    made: list[FakeHalf] = []
    numbers: dict[int, FrameNumbers] = {}
    async with hub_world(options) as world:

        def page(url: str = "https://shop.example/", tab: int = 1, tools: Any = None) -> FakeHalf:
            half = FakeHalf(world)
            origin = "/".join(url.split("/")[:3])
            world.tabs.urls[tab] = url
            kept = numbers.setdefault(tab, FrameNumbers())
            half.begin(
                PageRelay(tab, url, origin, half, tools, world.transport, world.clock, allows=allows, numbers=kept)
            )
            made.append(half)
            return half

        yield world, page
        for half in made:
            await half.end()
        await settled()
