"""The document's `modelContext` (WebMCP), for a page that registers tools there.

Measured in Chromium 156; differences of npm's `@mcp-b/webmcp-polyfill` are noted. The object belongs to the page, whose
scripts may have replaced it: its exceptions are errors of one tool only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

import js
from pyodide.ffi import JsException, create_proxy, to_js

from mcpframe.frame.browser.window import text_of
from mcpframe.frame.core import payload
from mcpframe.frame.core.events import Unreadable
from mcpframe.frame.dialects.webmcp.tools import Rejected, failure

BUNDLED_WITH = ("document",)

_parse = js.JSON.parse
_map = getattr(js.Array, "from")  # a keyword of Python
_LISTS = ("SecurityError", "NotSupportedError")
"""Errors for origins that a browser cannot expose tools to; the polyfill can expose to none."""

Execute = Callable[[str], Coroutine[Any, Any, str]]
"""Runs a tool with the JSON text of its arguments; returns the JSON text of its result. Cancelled with the call."""


class ModelContext:
    """`document.modelContext`."""

    def embedder(self) -> str:
        """Return the origin of the page around this one; empty if there is none, or the browser hides it."""
        try:
            origins = js.location.ancestorOrigins
            return str(origins[0]) if origins.length else ""
        except (AttributeError, JsException):
            return ""

    def takes_forms(self) -> bool:
        """Return whether the browser makes tools of forms (WebMCP, declarative API); the polyfill does not."""
        try:
            return bool(js.Reflect.has(js.SubmitEvent.prototype, "agentInvoked"))
        except (AttributeError, JsException):
            return False

    async def register(
        self, tool: Mapping[str, Any], execute: Execute, exposed_to: Sequence[str]
    ) -> Callable[[], None]:
        """Register a tool.

        Args:
            tool: its definition, in the terms of WebMCP; without `execute`.
            execute: runs it.
            exposed_to: the other origins that may see it. If they are not accepted, no other origin does.

        Returns:
            A function that unregisters it.

        Raises:
            Rejected: if the document does not register it.
        """
        ending = js.AbortController.new()
        callback = create_proxy(_Calls(execute))

        def unregister() -> None:
            nonlocal callback
            if callback is not None:
                ending.abort()
                callback.destroy()
                callback = None

        try:
            definition = _parse(payload.encode(tool))
            definition.execute = callback
            try:
                await self._register(definition, ending.signal, exposed_to)
            except Rejected as error:
                if not exposed_to or error.kind not in _LISTS:
                    raise
                await self._register(definition, ending.signal, ())
        except BaseException:  # cancelled, too: the browser may have registered the tool by then
            unregister()
            raise
        return unregister

    async def _register(self, definition: Any, signal: Any, exposed_to: Sequence[str]) -> None:
        options = {"signal": signal} | ({"exposedTo": list(exposed_to)} if exposed_to else {})
        await settled(context(), "registerTool", definition, js_object(options))


async def settled(owner: Any, method: str, *arguments: Any) -> Any:
    """Call a method and return the outcome of its promise.

    A promise that is rejected without an error would raise in Pyodide's own code, which turns promises into futures,
    and the wait would not end. So JavaScript makes the call, and waits.

    Args:
        owner: the object.
        method: the method's name.
        arguments: values of JavaScript.

    Raises:
        Rejected: if the promise is rejected, or the method raises.
    """
    try:
        bound = getattr(owner, method).bind(owner, *arguments)
        [outcome] = await js.Promise.allSettled(_map(js.Array.of(0), bound))
    except (JsException, AttributeError, TypeError) as error:
        raise Rejected(_kind(error), _text(error)) from None
    if outcome.status == "rejected":
        raise Rejected(_kind(outcome.reason), _text(outcome.reason))
    return outcome.value


def context() -> Any:
    """Return `document.modelContext`. Raises `Rejected` if there is none, or it cannot be read."""
    try:
        return js.document.modelContext
    except (JsException, AttributeError) as error:
        raise Rejected(_kind(error), _text(error)) from None


_running: set[asyncio.Task[Any]] = set()
"""Holds the tasks of calls: the event loop's own reference is weak."""


class _Calls:
    """Called by the browser: `execute(input, {signal})`. The polyfill passes no signal."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def __call__(self, given: Any = None, options: Any = None, *_: Any) -> Any:
        answer = js.Promise.withResolvers()
        try:
            read = getattr(js, "mcpframeText", js.JSON.stringify)
            arguments = "{}" if given is None else text_of(given, read)
        except (Unreadable, ValueError):
            arguments = ""  # rejected like any other text that is not JSON
        task = asyncio.create_task(self._answer(arguments, answer, options))
        _running.add(task)
        task.add_done_callback(_running.discard)
        return answer.promise

    async def _answer(self, arguments: str, answer: Any, options: Any) -> None:
        """Settle the promise of one call; cancel the call when its signal aborts."""
        running = asyncio.create_task(self._execute(arguments))
        on_abort = create_proxy(lambda *_: running.cancel())
        try:
            signal = None if options is None else options.signal
            if signal is not None:
                signal.addEventListener("abort", on_abort, js_object({"once": True}))
                if signal.aborted:
                    running.cancel()
        except (JsException, AttributeError, TypeError):
            signal = None  # another value never aborts
        try:
            answer.resolve(_parse(await running))
        except asyncio.CancelledError:  # its caller already has an error; a rejection would only log another
            answer.resolve(_parse(payload.encode(failure("The call was cancelled."))))
        finally:
            with suppress(JsException, AttributeError, TypeError):
                if signal is not None:
                    signal.removeEventListener("abort", on_abort)
            on_abort.destroy()


def js_object(members: Mapping[str, Any]) -> Any:
    """Return a JavaScript object with these members."""
    return to_js(members, dict_converter=js.Object.fromEntries)


def _kind(reason: Any) -> str:
    try:
        return str(getattr(reason, "name", None) or type(reason).__name__)
    except JsException:
        return "Error"


def _text(reason: Any) -> str:
    try:
        return str(reason)
    except JsException:
        return "an error that cannot be read"
