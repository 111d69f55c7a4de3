"""The tools of a document's `modelContext` (WebMCP), over DevTools: `web_mcp.client.ToolSource`.

The page's half is `static/hub/document-tools.js`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.web_mcp.tools import LIMITS, Rejected
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.bridge.devtools import DevTools

_END_SECONDS = 2.0
"""How long the end of a document is waited for."""


class DocumentHalf:
    """The page's half: an object in the page's own world, which its scripts cannot reach.

    Args:
        devtools: The browser's.
        session: The id of the session with the page.
        object_id: The object's id.
    """

    def __init__(self, devtools: DevTools, session: str, object_id: str) -> None:
        self._devtools = devtools
        self._session = session
        self._object_id = object_id

    @classmethod
    async def create(cls, devtools: DevTools, session: str, context: str) -> DocumentHalf:
        """Create the object in a context of execution, by its unique id.

        Raises:
            BrowserGone: The document is gone, or its own scripts prevent that.
        """
        source = (static_dir() / "hub" / "document-tools.js").read_text("utf-8").rstrip().rstrip(";")
        made = await devtools.post("Runtime.evaluate", session, expression=f"({source})()", uniqueContextId=context)
        if "objectId" not in made["result"] or "exceptionDetails" in made:
            raise BrowserGone("The page's own scripts prevent that its tools are read.")
        return cls(devtools, session, made["result"]["objectId"])

    async def ask(self, function: str, *arguments: object) -> Any:
        """Call a function, and return what it returns.

        Raises:
            BrowserGone: The document is gone.
            Rejected: The function fails.
        """
        answer = await self._call(function, arguments, wait=True)
        if "exceptionDetails" in answer:
            raise Rejected("Error", "The page's own scripts prevent that.")
        return answer["result"].get("value")

    def tell(self, function: str, *arguments: object) -> None:
        """Call a function without waiting."""
        self._call(function, arguments, wait=False)

    def _call(self, function: str, arguments: Sequence[object], *, wait: bool) -> asyncio.Future[dict[str, Any]]:
        return self._devtools.post(
            "Runtime.callFunctionOn",
            self._session,
            functionDeclaration=f"function (...given) {{ return this.{function}(...given); }}",
            objectId=self._object_id,
            arguments=[{"value": each} for each in arguments],
            awaitPromise=wait,
            returnByValue=wait,
        )


class DocumentTools:
    """The tools.

    Args:
        half: The page's half.
    """

    def __init__(self, half: DocumentHalf) -> None:
        self._ask = half.ask
        self._tell = half.tell
        self._ids = itertools.count(1)
        self._known = 0
        self._there = asyncio.Event()
        self._changed: Callable[[], None] = lambda: None

    async def available(self) -> None:
        """Wait until the document has a `modelContext`."""
        await self._there.wait()

    async def follow(self) -> None:
        """Follow the changes of the tools until the document is gone."""
        try:
            while (text := await self._ask("next", self._known)) is not None:
                found = payload.parse(text, **LIMITS)
                self._known = found["changes"]
                if found["there"]:
                    self._there.set()
                else:
                    self._there.clear()
                self._changed()
        except (BrowserGone, MessageError, Rejected):
            return  # a document's end is seen by its page

    def stop(self) -> None:
        """End the page's half."""
        self._tell("stop")

    async def list(self) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """As `ToolSource.list`."""
        try:
            found = await self._outcome("list")
        except BrowserGone as error:
            raise Rejected("Error", str(error)) from None
        if not isinstance(found, list):
            raise Rejected("TypeError", "getTools has not returned a list of tools")
        return [(tool, tool.get("name")) for tool in found if isinstance(tool, dict)]

    async def run(self, tool: Any, arguments: Mapping[str, Any]) -> str | None:
        """As `ToolSource.run`."""
        id_ = next(self._ids)
        try:
            answer = await self._outcome("run", id_, tool, payload.encode(arguments))
        except asyncio.CancelledError:
            self._tell("cancel", id_)
            raise
        except BrowserGone as error:
            # The browser may say so before it reports the document's end, which is what has to end the call: this is
            # no answer of the tool.
            await anyio.sleep(_END_SECONDS)
            raise Rejected("Error", str(error)) from None
        return answer if isinstance(answer, str) else None

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """As `ToolSource.watch`."""
        self._changed = changed

        def stop() -> None:
            if self._changed is changed:
                self._changed = lambda: None

        return stop

    async def _outcome(self, function: str, *arguments: object) -> Any:
        try:
            found = payload.parse(await self._ask(function, *arguments), **LIMITS)
        except (MessageError, TypeError) as error:
            raise Rejected("Error", str(error)) from None
        if not isinstance(found, dict) or "value" not in found:
            failed = found if isinstance(found, dict) else {}
            raise Rejected(str(failed.get("kind", "Error")), str(failed.get("message", "")))
        return found["value"]
