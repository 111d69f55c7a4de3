"""The server's tools at the document's `modelContext` (WebMCP), for agents of the browser and scripts of the page.

The server is also served to a client in this process: initialization, `tools/list` and its changes, calls, errors,
cancellation and validation work as for every other client. So all kinds of servers work, at the same time as the host
around the page. Only the page checks the arguments, and the browser withholds an exception's message from the caller,
so every failure is a result with `isError`.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.dialects.webmcp.tools import (
    LIMITS,
    Json,
    Rejected,
    definitions,
    exposed_to,
    failure,
)
from mcpframe.frame.webmcp.inside import CallFailed, InsideClient, WatchedWriter

if TYPE_CHECKING:
    from mcpframe.frame.core.allowed_origins import AllowedOrigins
    from mcpframe.frame.session.interfaces import Messages

BUNDLED_WITH = ("document",)

log = logging.getLogger("mcpframe")

Serve = Callable[[Any, Any], Awaitable[None]]
"""Serves one client on its `(read, write)` until `read` ends."""

_PATIENCE: Final = 10.0
"""Seconds that the document may take to register a tool."""
_OVER = "The server has ended for WebMCP: its tools are not registered any more."


class ToolRegistrar(Protocol):
    """A place to register tools: see `browser.model_context`."""

    async def register(
        self, tool: Json, execute: Callable[[str], Coroutine[Any, Any, str]], exposed_to: Sequence[str]
    ) -> Callable[[], None]:
        """Register a tool; return a function that unregisters it. Raises `Rejected`."""
        ...

    def takes_forms(self) -> bool:
        """Return whether the document makes tools of forms, too."""
        ...


class Offering:
    """The tools of a server, registered for the duration of an `async with` block.

    Failures are only logged: the page has other clients.

    Attributes:
        registered: the definitions of the tools, by their names there.
    """

    def __init__(self, place: ToolRegistrar, messages: Messages, serve: Serve, exposed: Sequence[str] = ()) -> None:
        """Create it; entering it registers the tools.

        Args:
            place: where to register them.
            messages: the form of messages on the streams of `serve`.
            serve: serves one client.
            exposed: the other origins that may see the tools: see `exposed_to`.
        """
        self.registered: dict[str, Json] = {}
        self._place = place
        self._messages = messages
        self._serve = serve
        self._exposed = list(exposed)
        self._unregister: dict[str, Callable[[], None]] = {}
        self._own_names: dict[str, str] = {}
        self._in_forms: set[str] = set()
        self._registering = asyncio.Lock()
        self._changed = asyncio.Event()
        self._noted: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Offering:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def ended(self) -> None:
        """Wait until the server has ended, or its tools cannot be registered."""
        if self._task is not None:
            await asyncio.wait([self._task])

    @asynccontextmanager
    async def standing_aside(self) -> AsyncIterator[None]:
        """Offer no tools in the block, so that a server with one client at a time can serve another one."""
        await self._stop()
        try:
            yield
        finally:
            self._task = asyncio.create_task(self._run())

    async def leave_to_form(self, tool: str) -> Callable[[], None] | None:
        """Unregister a tool, which a form of the page declares: a document has one tool of each name.

        Args:
            tool: its own name.

        Returns:
            A function that registers it again, once the form is gone. None if another form has the tool already, or the
            document makes no tools of forms.
        """
        if tool in self._in_forms or not self._place.takes_forms():
            return None
        self._in_forms.add(tool)

        def take_back() -> None:
            self._in_forms.discard(tool)
            self._changed.set()

        try:
            async with self._registering:
                for name in [name for name, own in self._own_names.items() if own == tool]:
                    self._forget(name)
        except BaseException:  # cancelled
            take_back()
            raise
        return take_back

    def watched(self, write: Any) -> WatchedWriter:
        """Return a write stream for another session of this server that announces changes of its tools here, too."""
        return WatchedWriter(write, self._messages, self._changed.set)

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        incoming, read = anyio.create_memory_object_stream[Any](math.inf)
        client = InsideClient(incoming, self._messages, self._changed.set)
        keeping = asyncio.create_task(self._keep(client, incoming.close))
        try:
            await self._serve(read, client)
            log.warning(_OVER)
        except Exception:
            log.exception(_OVER)
        finally:
            client.end()
            keeping.cancel()
            await asyncio.wait([keeping])
            for name in list(self._unregister):
                self._forget(name)
            incoming.close()
            read.close()

    async def _keep(self, client: InsideClient, leave: Callable[[], None]) -> None:
        try:
            await client.begin()
            while True:
                self._changed.clear()
                await self._register(definitions(await client.tools(), self._note), client)
                await self._changed.wait()
        except (CallFailed, MessageError) as error:
            log.warning("No tools are offered to WebMCP: %s", error)
            leave()

    async def _register(self, tools: Mapping[str, tuple[str, Json]], client: InsideClient) -> None:
        for name in [name for name, known in self.registered.items() if tools.get(name, ("", None))[1] != known]:
            self._forget(name)
        for name, (tool, definition) in tools.items():
            async with self._registering:
                if name not in self.registered and tool not in self._in_forms:
                    await self._register_one(name, tool, definition, client)

    async def _register_one(self, name: str, tool: str, definition: Json, client: InsideClient) -> None:
        async def execute(arguments: str) -> str:
            return payload.encode(await _call(client, tool, definition.get("inputSchema", {}), arguments))

        try:
            async with asyncio.timeout(_PATIENCE):
                self._unregister[name] = await self._place.register(definition, execute, self._exposed)
            self.registered[name], self._own_names[name] = definition, tool
        except (Rejected, TimeoutError) as error:
            reason = str(error) or "the document did not answer in time."
            self._note(f"The tool {name!r} is not offered to WebMCP: {reason}")

    def _forget(self, name: str) -> None:
        """Unregister a tool, if it is registered."""
        if name in self.registered:
            self._unregister.pop(name)()
            del self.registered[name], self._own_names[name]

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            log.warning(text)


def offer(messages: Messages, serve: Serve, allowed: AllowedOrigins | None) -> Offering:
    """Return the tools of a server at this page's document: see `Dialect.document_module`.

    Args:
        messages: the form of messages on the streams of `serve`.
        serve: serves one client.
        allowed: the origins that may see the tools besides the page's own; None for no others.
    """
    from mcpframe.frame.browser.model_context import ModelContext

    place = ModelContext()
    return Offering(place, messages, serve, exposed_to(allowed, place.embedder()))


async def _call(client: InsideClient, tool: str, schema: Json, arguments: str) -> Json:
    """Call a tool, and return its result or a failure as a result."""
    try:
        given = payload.decode(arguments, **LIMITS)
    except MessageError as error:
        return failure(f"Invalid arguments for {tool!r}: {error}")
    return await client.call(tool, schema, given)
