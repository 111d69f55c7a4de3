"""A page that is driven over DevTools: its addresses, its scripts, and its console with those of its frames."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mcpframe.kit.base.deadline import within
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.protocol import text_of
from mcpframe.kit.browser.page_window import PageGone

LONGEST_EVENT = 1 << 20
"""The longest event of a console that is read, in bytes."""
_OPENING_SECONDS = 60.0
"""Seconds for a new page to take its settings and to load an empty page."""
_GOODBYE_SECONDS = 5.0
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class ConsoleLine:
    """A line of a page's console: of the page, or of the browser about it.

    Attributes:
        kind: `log`, `error` and so on, as DevTools calls them; `uncaught` for an error that no code has caught.
        text: The text.
        url: Where, if the browser says that.
    """

    kind: str
    text: str
    url: str = ""


class DevToolsPage:
    """A page in a tab of its own.

    Attributes:
        gone: Done once the page, one of its frames or the browser has ended, with the reason.
        on_console: Called with each line of its console, and of those of its frames.
        on_request: Called with each request that `intercept` has stopped (DevTools, `Fetch.requestPaused`).
    """

    def __init__(self, tab: OpenTab) -> None:
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.on_console: Callable[[ConsoleLine], None] = lambda _: None
        self.on_request: Callable[[dict[str, Any]], None] = lambda _: None
        self._devtools = tab.devtools
        self._target = tab.target
        self._session = ""
        self._frames: dict[str, str] = {}  # by the ids of their frames, the sessions of those in other processes
        self._loaded: set[str] = set()
        self._on_load = asyncio.Event()

    async def _attach(self) -> None:
        """Begin to drive the tab.

        Raises:
            PageGone: The browser has ended, or the tab is closed.
        """
        with _as_page_gone():
            attached = await self._devtools.command("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        self._devtools.longest_of_console = LONGEST_EVENT
        self._devtools.closed.add_done_callback(self._on_browser_gone)
        self._follow(self._session)
        self._devtools.post("Page.setLifecycleEventsEnabled", self._session, enabled=True)

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """Attach to the page and make it ready in the block, within a deadline; on an error the tab is closed.

        A process that hangs or ends before the page is attached to sends no event about it.

        Raises:
            PageGone: It does not answer, or is gone.
        """
        try:
            async with within(_OPENING_SECONDS, self._silent):
                await self._attach()
                yield
        except BaseException:
            await self.close()
            raise

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of DevTools to the page, and wait for its result, without a deadline of its own.

        Raises:
            PageGone: The page is gone, or the browser refuses the command.
        """
        return await self.command_in(self._session, method, **params)

    async def command_in(self, session: str, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to the session of the page or of a frame; otherwise like `command`."""
        with _as_page_gone():
            return await self._until_gone(self._devtools.post(method, session, **params))

    def post(self, method: str, **params: Any) -> None:
        """Send a command to the page, whose result nobody needs."""
        self._devtools.post(method, self._session, **params)

    async def navigate(self, url: str) -> None:
        """Load an address, and wait for its `load` event.

        Raises:
            PageGone: It cannot be loaded, or the page is gone.
        """
        self._on_load.clear()
        answer = await self.command("Page.navigate", url=url)
        if reason := answer.get("errorText"):
            raise PageGone(f"{url} cannot be loaded ({str(reason).removeprefix('net::')})")
        while answer.get("loaderId", "") not in self._loaded:
            await self._until_gone(self._on_load.wait())
            self._on_load.clear()

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, or what its promise is fulfilled with, as JSON.

        Raises:
            PageGone: It throws, or the page is gone.
        """
        answer = await self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return _value(answer).get("value")

    async def remote(self, function: str, argument: Any = None) -> RemoteObject:
        """Call a function of JavaScript, and return the object that it returns.

        Raises:
            PageGone: It throws, or the page is gone.
        """
        window = _value(await self.command("Runtime.evaluate", expression="globalThis"))
        its_window = RemoteObject(self, self._session, window["objectId"])
        return await its_window.remote(f"(window, argument) => ({function})(argument)", argument)

    async def frame(self, iframe: RemoteObject) -> RemoteObject:
        """Return the `window` of the page in an iframe, also of one in another process.

        Raises:
            PageGone: There is none, or the page is gone.
        """
        described = await self.command_in(iframe.session, "DOM.describeNode", objectId=iframe.id)
        frame = described["node"]["frameId"]
        session = self._frames.get(frame)
        if session is None:  # a world of its own in the same process, which sees the same document
            world = await self.command_in(iframe.session, "Page.createIsolatedWorld", frameId=frame)
            params = {"contextId": world["executionContextId"]}
        else:
            params = {}
        answer = await self.command_in(session or iframe.session, "Runtime.evaluate", expression="globalThis", **params)
        return RemoteObject(self, session or iframe.session, _value(answer)["objectId"])

    async def close(self) -> None:
        """Close the tab. Nothing happens if it is closed already."""
        self._devtools.closed.remove_done_callback(self._on_browser_gone)
        for session in (self._session, *self._frames.values()):
            self._devtools.handle(session, None)
        self._end("it was closed")
        if not self._devtools.closed.done():
            with suppress(BrowserGone, TimeoutError):
                async with asyncio.timeout(_GOODBYE_SECONDS):
                    await self._devtools.command("Target.closeTarget", targetId=self._target)

    async def _until_gone(self, waited: Awaitable[_Result]) -> _Result:
        waiting = asyncio.ensure_future(waited)
        try:
            either: list[asyncio.Future[Any]] = [waiting, self.gone]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done() and not (waiting.exception() and self.gone.done()):  # whose reason says more
                return waiting.result()
        finally:
            waiting.cancel()
        raise PageGone(self.gone.result())

    def _follow(self, session: str) -> None:
        """Follow the console of a page or of a frame, and its frames in other processes."""
        self._devtools.handle(session, partial(self._on_event, session))
        for domain in ("Page", "Runtime", "Log"):
            self._devtools.post(f"{domain}.enable", session)
        self._devtools.post(
            "Target.setAutoAttach",
            session,
            autoAttach=True,
            waitForDebuggerOnStart=False,
            flatten=True,
            filter=[{"type": "iframe"}],
        )

    def _silent(self) -> PageGone:
        reason = f"the page has not answered for {_OPENING_SECONDS:g} s"
        self._end(reason)
        return PageGone(reason)

    def _on_browser_gone(self, _: object) -> None:
        self._end("the browser has ended")

    def _end(self, reason: str) -> None:
        if not self.gone.done():
            self.gone.set_result(reason)

    def _on_event(self, session: str, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.consoleAPICalled":
                self.on_console(ConsoleLine(params["type"], " ".join(map(text_of, params["args"]))))
            case "Runtime.exceptionThrown":
                self.on_console(ConsoleLine("uncaught", _thrown(params["exceptionDetails"])))
            case "Log.entryAdded":
                entry = params["entry"]
                self.on_console(ConsoleLine(entry["level"], entry["text"], entry.get("url", "")))
            case "Page.lifecycleEvent":
                if params["name"] == "load":
                    self._loaded.add(params["loaderId"])
                    self._on_load.set()
            case "Fetch.requestPaused":
                self.on_request(params)
            case "Target.attachedToTarget":
                self._frames[params["targetInfo"]["targetId"]] = params["sessionId"]
                self._follow(params["sessionId"])
            case "Target.detachedFromTarget":
                self._devtools.handle(params["sessionId"], None)
                self._frames = {key: value for key, value in self._frames.items() if value != params["sessionId"]}
            case "Inspector.targetCrashed":
                self._end("the page has crashed" if session == self._session else "a frame of the page has crashed")
            case "Inspector.detached" if session == self._session:
                self._end("the page was closed")


class RemoteObject:
    """An object of a page's script: a `PageObject` over DevTools.

    Attributes:
        session: The session of its page or frame.
        id: Its id there.
    """

    def __init__(self, page: DevToolsPage, session: str, object_id: str) -> None:
        self._page = page
        self.session = session
        self.id = object_id

    async def call(self, function: str, argument: Any = None) -> Any:
        """Call a function with the object and an argument; see `PageObject`."""
        return (await self._called(function, argument, by_value=True)).get("value")

    async def remote(self, function: str, argument: Any = None) -> RemoteObject:
        """Call a function with the object and an argument, and return the object that it returns.

        Raises:
            PageGone: It throws, or returns none.
        """
        result = await self._called(function, argument, by_value=False)
        if "objectId" not in result:
            raise PageGone("there is no such object")
        return RemoteObject(self._page, self.session, result["objectId"])

    async def _called(self, function: str, argument: Any, *, by_value: bool) -> Mapping[str, Any]:
        answer = await self._page.command_in(
            self.session,
            "Runtime.callFunctionOn",
            objectId=self.id,
            functionDeclaration=f"function (argument) {{ return ({function})(this, argument); }}",
            arguments=[{"value": argument}],
            returnByValue=by_value,
            awaitPromise=True,
            userGesture=True,
        )
        return _value(answer)


@contextmanager
def _as_page_gone() -> Iterator[None]:
    try:
        yield
    except BrowserGone as error:
        raise PageGone(str(error).rstrip(".")) from error


def _value(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if details := answer.get("exceptionDetails"):
        raise PageGone(_thrown(details))
    result: Mapping[str, Any] = answer["result"]
    return result


def _thrown(details: Mapping[str, Any]) -> str:
    return text_of(details["exception"]) if "exception" in details else str(details["text"])
