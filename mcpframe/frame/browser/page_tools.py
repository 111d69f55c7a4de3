"""The tools of the document's `modelContext` (WebMCP), for a page that uses them.

Measured in Chromium 156: `executeTool` takes an object, and returns a text: the tool's result unchanged if it is a
text, otherwise as JSON. In npm's `@mcp-b/webmcp-polyfill` it takes a text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import js
from pyodide.ffi import JsException, create_proxy

from mcpframe.frame.browser.model_context import context, js_object, settled
from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.dialects.webmcp.tools import LIMITS, Rejected

WAITS_FOR_USER = "The form is filled in, and waits for the user of the page to check and submit it."
_FILLED_SECONDS = 0.3
"""Time in which a form is filled in, or its arguments are rejected."""

_parse = js.JSON.parse
_stringify = js.JSON.stringify


class PageTools:
    """The tools visible to this document: its own, and those that frames of some origins expose to it."""

    def __init__(self, origins: Sequence[str] = ()) -> None:
        """Access the tools.

        Args:
            origins: the other origins whose tools are included.
        """
        self._origins = list(origins)

    async def list(self) -> Sequence[tuple[Mapping[str, Any], Any]]:
        """Return the definition of each tool, and the function that runs it. Raises `Rejected`."""
        asked = js_object({"fromOrigins": self._origins} if self._origins else {})
        tools = await settled(context(), "getTools", asked)
        try:
            return [(_definition(tool), tool) for tool in tools]
        except (JsException, AttributeError, TypeError) as error:
            raise Rejected("TypeError", f"getTools has not returned a list of tools: {error}") from None

    async def run(self, tool: Any, arguments: Mapping[str, Any]) -> str | None:
        """Call a tool, and return its result as text; None for nothing. Cancelling this ends the call.

        A form that its user has to submit is filled in, and not waited for.

        Args:
            tool: an item of `list`.
            arguments: its arguments.

        Raises:
            Rejected: if it fails, or no longer exists.
        """
        ending = js.AbortController.new()
        text = payload.encode(arguments)
        where = context()
        try:
            given = text if hasattr(where, "__isWebMCPPolyfill") else _parse(text)
            executing = asyncio.ensure_future(
                settled(where, "executeTool", tool, given, js_object({"signal": ending.signal}))
            )
            executing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # it may be left
            done, _ = await asyncio.wait([executing], timeout=_FILLED_SECONDS if _waits_for_user(tool) else None)
            if not done:
                return WAITS_FOR_USER
            answer = executing.result()
        except asyncio.CancelledError:
            ending.abort()
            raise
        except JsException as error:
            raise Rejected("TypeError", str(error)) from None
        return _text(answer)

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever tools are added or removed; return one that ends this. Raises `Rejected`."""
        where, proxy = context(), create_proxy(lambda *_: changed())
        try:
            where.addEventListener("toolchange", proxy)
        except (JsException, AttributeError, TypeError) as error:
            proxy.destroy()
            raise Rejected("TypeError", str(error)) from None

        def stop() -> None:
            with suppress(JsException, AttributeError, TypeError):
                where.removeEventListener("toolchange", proxy)
            proxy.destroy()

        return stop


def _waits_for_user(tool: Any) -> bool:
    """Return whether a tool is a form that its user has to submit (WebMCP, declarative tools)."""
    try:
        forms = (getattr(tool, "window", None) or js).document.forms
        form = next((each for each in forms if each.getAttribute("toolname") == tool.name), None)
        return form is not None and not form.hasAttribute("toolautosubmit")
    except (JsException, AttributeError, TypeError):
        return False  # a frame of another origin


def _text(answer: Any) -> str | None:
    """Return the result of `executeTool` as text, the type that browsers return."""
    if answer is None or isinstance(answer, str):
        return answer
    try:
        return str(_stringify(answer))
    except JsException:
        return None


def _definition(tool: Any) -> Mapping[str, Any]:
    """Return the members of a tool by name, without its window."""
    names = ("name", "title", "description", "inputSchema", "annotations", "origin")
    definition: dict[str, Any] = {}
    for name in names:
        try:
            text = _stringify(getattr(tool, name, None))
            value = payload.parse(text, **LIMITS) if isinstance(text, str) else None
        except (JsException, MessageError):
            continue
        if value is not None:
            definition[name] = value
    return definition
