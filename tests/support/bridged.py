"""The bridge's HTTP edge in this process: over a real socket, with the real SDK's server where a page would be."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.serving.server import serve
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.endpoint import BridgeEndpoint, EdgeOptions, Spare, serve_until_cancelled
from mcpframe.kit.edges.http.running import alongside
from mcpframe.kit.edges.http.sessions import Sessions
from mcpframe.kit.edges.http.stateless import StatelessRequests
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from mcpframe.kit.web.serve import bind

JSON = dict[str, Any]
PATIENCE = 30.0


def make_server() -> MCPServer[Any]:
    """A server with the tools that the bridge's tests call."""
    server = MCPServer("bridged")
    cancelled: list[str] = []

    @server.tool()
    def echo(text: str) -> str:
        """Return the text."""
        return text

    @server.tool()
    async def wait(name: str, ctx: Context) -> str:
        """Wait until cancelled."""
        await ctx.report_progress(0, None, "waiting")
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(name)

    @server.tool()
    async def count(to: int, ctx: Context) -> str:
        """Report progress."""
        for step in range(1, to + 1):
            await ctx.report_progress(step, to, f"step {step}")
        return f"counted to {to}"

    @server.tool()
    def cancelled_waits() -> list[str]:
        """Return which waits were cancelled."""
        return cancelled

    return server


class ServerPage:
    """A page whose server runs in this process. What a test says in the server's place goes the same way."""

    def __init__(self, link: ReopeningLink, server: MCPServer[Any]) -> None:
        """Serve the link's client."""
        self.link = link
        self.heard: list[JSON] = []
        self.closed = False
        self.lies: dict[str, list[JSON]] = {}
        self._to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        to_client, self._from_server = anyio.create_memory_object_stream[SessionMessage](float("inf"))
        self._streams = (self._to_server, from_client, to_client, self._from_server)
        self._tasks = [
            asyncio.create_task(serve(server, from_client, to_client)),
            asyncio.create_task(self._say_all()),
        ]

    def send(self, text: str) -> None:
        """Take a message of the client. A method in `lies` is answered with the messages there."""
        message = json.loads(text)
        self.heard.append(message)
        if message.get("method") in self.lies:
            for lie in self.lies[message["method"]]:
                self.say({"jsonrpc": "2.0", "id": message["id"], **lie})
            return
        body = jsonrpc_message_adapter.validate_python(message, by_name=False)
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._to_server.send_nowait(SessionMessage(body))

    def say(self, message: JSON) -> None:
        """Send a message to the client."""
        self.link.on_message(ServerMessage(json.dumps(message), message.get("id"), message.get("method")))

    def await_answer(self, awaited: object) -> None:
        pass  # it never computes for long

    def answer_cancelled(self) -> None:
        pass

    async def complete(self) -> None:
        """Do nothing: no files are deferred."""

    async def close(self) -> None:
        """End the server."""
        self.closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for stream in self._streams:  # its server may not have begun, and closed none
            stream.close()

    async def _say_all(self) -> None:
        async for item in self._from_server:
            self.say(json.loads(item.message.model_dump_json(by_alias=True, exclude_unset=True)))


@dataclass
class Place:
    """Where pages are opened.

    Attributes:
        lies: what pages answer to a method, in the server's place: members of each message.
        pages: all that were opened.
    """

    lies: dict[str, list[JSON]] = field(default_factory=dict)
    pages: list[ServerPage] = field(default_factory=list)

    @property
    def last(self) -> ServerPage:
        """Return the page that has received a message; of several the newest."""
        return [page for page in self.pages if page.heard][-1]

    def heard(self, method: str, **params: Any) -> int:
        """Return how many messages of a method, with these parameters, the pages have received."""
        return sum(
            message.get("method") == method and params.items() <= message.get("params", {}).items()
            for page in self.pages
            for message in page.heard
        )

    async def open_page(self, link: ReopeningLink) -> ServerPage:
        """Open a page."""
        await asyncio.sleep(0)
        page = ServerPage(link, make_server())
        page.lies = self.lies
        self.pages.append(page)
        return page


@dataclass
class HttpBridge:
    """A bridge that runs.

    Attributes:
        url: its address.
        sessions: its half for clients up to 2025-11-25.
        requests: its half for later ones.
        serving: what serves it.
    """

    url: str
    sessions: Sessions
    requests: StatelessRequests
    serving: asyncio.Task[None]

    async def end(self) -> None:
        """End it, as a signal does."""
        self.serving.cancel()
        await asyncio.wait([self.serving])


@contextlib.asynccontextmanager
async def http_bridge(
    open_page: Callable[[ReopeningLink], Awaitable[Any]],
    access: Access = Access(),  # noqa: B008  frozen
    **options: Any,
) -> AsyncIterator[HttpBridge]:
    """Run a bridge for as long as the block lasts; `options` are those of `EdgeOptions`."""
    edge = EdgeOptions(**options)
    with bind(access.host, 0) as listener:
        port = listener.getsockname()[1]
        spare = Spare(open_page, edge.metrics, edge.early)
        served = BridgeEndpoint(spare, port, access, edge)
        try:
            if not spare.answers_early:
                await spare.open()
            async with served.running(), alongside(spare.open()) if spare.answers_early else contextlib.nullcontext():
                draining = partial(served.drain, edge.drain_seconds)
                app = served.app if edge.metrics is None else edge.metrics.counted(served.app)
                serving = asyncio.create_task(serve_until_cancelled(app, listener, None, served.end, draining))
                bridge = HttpBridge(access.address(port), served.sessions, served.requests, serving)
                try:
                    yield bridge
                finally:
                    await bridge.end()
        finally:
            await spare.close()  # its page's tasks would go on, and fail the tests after this one
