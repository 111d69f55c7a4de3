"""The tools of a document's `modelContext` (WebMCP, `webmcp.client.ToolSource`), and their relay.

The page's half is `static/hub/document-tools.js`. `webmcp.client` serves them as an MCP server, and `Relay` relays
that.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.dialects.webmcp.tools import LIMITS, Rejected
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.waiting.clock import Clock
from mcpframe.frame.webmcp.client import ToolSource, tools_session
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import encode
from mcpframe.hub.core.messages import FromProxy, Json
from mcpframe.hub.relay.half import HalfFailed, HalfGone, PageHalf
from mcpframe.hub.relay.relay import Relay


class DocumentTools:
    """The tools of one document.

    Args:
        half: The script in the page.

    Attributes:
        hidden: Returns the names of frames' tools to leave out: a browser also lists those of frames of the same
            origin.
    """

    def __init__(self, half: PageHalf) -> None:
        self._ask = half.ask
        self._tell = half.tell
        self._ids = itertools.count(1)
        self._known = 0
        self._there = asyncio.Event()
        self._changed: Callable[[], None] = lambda: None
        self.hidden: Callable[[], Collection[str]] = lambda: ()

    async def available(self) -> None:
        """Wait until the document has a `modelContext`."""
        await self._there.wait()

    async def follow(self) -> None:
        """Follow the changes of the tools until the document is gone."""
        try:
            while (text := await self._ask("next", self._known)) is not None:
                change = payload.parse(text, **LIMITS)
                self._known = change["changes"]
                if change["there"]:
                    self._there.set()
                else:
                    self._there.clear()
                self._changed()
        except (HalfGone, HalfFailed, MessageError):
            return  # the page reports a document's end

    def stop(self) -> None:
        """End the page's half."""
        self._tell("stop")

    async def list(self) -> Sequence[tuple[Mapping[str, Any], Any]]:
        try:
            listed = await self._outcome("list")
        except HalfGone as error:
            raise Rejected("Error", str(error)) from None
        if not isinstance(listed, list):
            raise Rejected("TypeError", "getTools has not returned a list of tools")
        hidden, seen = self.hidden(), Counter[Any]()
        tools: list[tuple[Mapping[str, Any], Any]] = []
        for tool in listed:
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            if not (tool.get("framed") and name in hidden):
                tools.append((tool, (name, seen[name])))
            seen[name] += 1
        return tools

    async def run(self, tool: Any, arguments: Mapping[str, Any]) -> str | None:
        id_ = next(self._ids)
        try:
            answer = await self._outcome("run", id_, tool[0], payload.encode(arguments), tool[1])
        except asyncio.CancelledError:
            self._tell("cancel", id_)
            raise
        except HalfGone as error:
            # The browser may report this before the document's end, and only the latter ends the call: this is no
            # answer of the tool.
            await anyio.sleep(limits.DOCUMENT_END_SECONDS)
            raise Rejected("Error", str(error)) from None
        return answer if isinstance(answer, str) else None

    def changed(self) -> None:
        """List the tools again: `hidden` has changed."""
        self._changed()

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._changed = changed

        def stop() -> None:
            if self._changed is changed:
                self._changed = lambda: None

        return stop

    async def _outcome(self, function: str, *arguments: object) -> Any:
        try:
            outcome = payload.parse(await self._ask(function, *arguments), **LIMITS)
        except (HalfFailed, MessageError, TypeError) as error:
            raise Rejected("Error", str(error)) from None
        if not isinstance(outcome, dict) or "value" not in outcome:
            failed = outcome if isinstance(outcome, dict) else {}
            raise Rejected(str(failed.get("kind", "Error")), str(failed.get("message", "")))
        return outcome["value"]


@asynccontextmanager
async def relay_tools(
    source: ToolSource,
    to_hub: Callable[[FromProxy], None],
    clock: Clock,
    *,
    url: str | None = None,
) -> AsyncIterator[Relay]:
    """Relay the tools of a document for the duration of the block. At its end they are removed, and calls fail.

    Args:
        source: The document's tools.
        to_hub: Posts a message to the hub.
        url: The page's address, for the hub.

    Yields:
        The relay; pass the hub's messages to `Relay.from_hub`.

    Raises:
        StateError: The tools cannot be listed.
    """
    async with tools_session(source, PlainMessages()) as (read, server):

        def to_page(message: Json) -> None:
            encode(message)  # raises if it is not JSON
            server.take(message)

        relay = Relay(to_page, to_hub, clock, url=url)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, read, relay)
                relay.start()
                yield relay
                tasks.cancel_scope.cancel()
        finally:
            relay.page_ended()


async def _read(read: Any, relay: Relay) -> None:
    async for message in read:
        relay.from_page(message)
