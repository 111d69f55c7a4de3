"""The script of a page's tools, `static/hub/document-tools.js`, over DevTools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from mcpframe.hub.relay.half import HalfFailed, HalfGone
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.protocol import DevTools


class ScriptHalf:
    """A script's object in the page's own world, which the page's scripts cannot reach: `hub.relay.half.PageHalf`.

    Args:
        session: The id of the session with the page.
        object_id: The object's id.
    """

    def __init__(self, devtools: DevTools, session: str, object_id: str) -> None:
        self._devtools = devtools
        self._session = session
        self._object_id = object_id

    @classmethod
    async def create(cls, devtools: DevTools, session: str, context: str) -> ScriptHalf:
        """Create the object in an execution context, by its unique id.

        Raises:
            BrowserGone: The document is gone, or its own scripts prevent it.
        """
        source = (static_dir() / "hub" / "document-tools.js").read_text("utf-8").rstrip().rstrip(";")
        answer = await devtools.post("Runtime.evaluate", session, expression=f"({source})()", uniqueContextId=context)
        if "objectId" not in answer["result"] or "exceptionDetails" in answer:
            raise BrowserGone("The page's own scripts prevent its tools from being read.")
        return cls(devtools, session, answer["result"]["objectId"])

    async def ask(self, function: str, *arguments: object) -> Any:
        try:
            answer = await self._call(function, arguments, wait=True)
        except BrowserGone as error:
            raise HalfGone(str(error)) from error
        if "exceptionDetails" in answer:
            raise HalfFailed("The page's own scripts prevent that.")
        return answer["result"].get("value")

    def tell(self, function: str, *arguments: object) -> None:
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
