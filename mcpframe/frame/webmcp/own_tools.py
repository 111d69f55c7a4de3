"""The tools of a page's own server, for forms in the page: a client in this process, in the session of the page."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from mcpframe.frame.core.errors import PageError
from mcpframe.frame.dialects.webmcp.tools import definitions
from mcpframe.frame.webmcp.inside import CallFailed, InsideClient

if TYPE_CHECKING:
    from mcpframe.frame.session.interfaces import Messages
    from mcpframe.frame.webmcp.offering import Offering

BUNDLED_WITH = ("tool_forms",)

log = logging.getLogger("mcpframe")

Serve = Callable[[Any, Any], Awaitable[None]]
"""Serves one client on its `(read, write)` until `read` ends."""


class OwnTool(NamedTuple):
    """A tool.

    Attributes:
        name: its name on the server.
        declared: its name in WebMCP.
        definition: its definition there.
    """

    name: str
    declared: str
    definition: Mapping[str, Any]


class OwnTools:
    """The tools of a page's own server.

    Attributes:
        offered: the same tools at the document (WebMCP); None if it takes none.
        at_end: called when the page is closed.
    """

    def __init__(self, messages: Messages, serve: Serve, offered: Offering | None) -> None:
        """Begin to serve this client.

        Args:
            messages: the form of messages on the streams of `serve`.
            serve: serves one client.
            offered: see the attribute.
        """
        self.offered = offered
        self.at_end: set[Callable[[], None]] = set()
        self._incoming, read = anyio.create_memory_object_stream[Any](math.inf)
        self._client = InsideClient(self._incoming, messages, lambda: None)
        # An empty context: the code that asks for the first form may run for a request, which ends earlier.
        self._serving = asyncio.create_task(self._run(serve, read), context=Context())
        self._beginning = asyncio.ensure_future(self._client.begin("a form"))
        self._beginning.add_done_callback(lambda begun: begun.cancelled() or begun.exception())  # it may be left

    async def tool(self, name: str) -> OwnTool:
        """Return a tool. Raises `PageError` if there is no such tool, or the server does not list its tools."""
        try:
            await asyncio.shield(self._beginning)
            tools = await self._client.tools()
        except CallFailed as error:
            raise PageError(f"There is no form for the tool {name!r}: {error}") from None
        for declared, (own, definition) in definitions(tools, lambda _: None).items():
            if own == name:
                return OwnTool(name, declared, definition)
        listed = ", ".join(sorted(str(tool.get("name")) for tool in tools)) or "none"
        raise PageError(f"There is no form for {name!r}, which is not a tool of this server (its tools: {listed}).")

    async def call(self, tool: OwnTool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a call; a failure is a result, too."""
        return await self._client.call(tool.name, tool.definition.get("inputSchema", {}), arguments)

    def close(self) -> None:
        """End this client, whose calls fail."""
        for each in self.at_end:
            each()
        self.at_end.clear()
        self._client.end()
        self._serving.cancel()

    async def _run(self, serve: Serve, read: Any) -> None:
        try:
            await serve(read, self._client)
        except Exception:
            log.exception("The server has ended for the forms of its page.")
        finally:
            self._client.end()
            self._incoming.close()
            read.close()
