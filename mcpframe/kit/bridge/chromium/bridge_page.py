"""The bridge's own page in a tab of its browser, and the one server that it frames.

The page's half is `static/bridge/bridge.js`. It reports events through a binding. A framed page of the same process
could call the binding, too, so only calls from the host page's own context are accepted.

A page that crashes, is closed, or computes without a pause (`busy_page`), and a Chromium that ends, are noticed here
and reported to `PageListener.on_gone`; `kit/edges/link/reopening_link.py` then opens the next page.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.errors import BridgeError, BrowserGone, PageFailed
from mcpframe.kit.bridge.chromium.busy_page import BusyWatch
from mcpframe.kit.bridge.chromium.carried_storage import CarriedStorage
from mcpframe.kit.bridge.chromium.page_console import LONGEST_EVENT, PageConsole
from mcpframe.kit.bridge.chromium.page_memory import PageMemory
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.meter import PageOutcome

HOST_NAME = "mcpframe-bridge.localhost"
HOST_ORIGIN = f"http://{HOST_NAME}"
"""The origin of the bridge's host page, to be allowed by servers. Its port is mapped to a free one."""

PAGE_URL = f"{HOST_ORIGIN}/bridge/bridge.html"

_BINDING = "mcpframeBridge"
# Seconds for the host page to start, for each attempt. A new tab may still navigate to its empty page instead.
_HELLO_SECONDS = (10.0, 30.0)
_GOODBYE_SECONDS = 5.0
_COMPLETE_SECONDS = 10.0
_PIECE = 4_000_000
"""Characters of a message per command: each takes up to 6 bytes, and Chromium ends DevTools at a command of 100 MB. The
same in static/bridge/bridge.js."""


@dataclass(frozen=True)
class FramedPage:
    """A page to frame, and its options.

    Attributes:
        url: the server's address.
        session_id: the session id, under which the server stores its values.
        visibility: whether its frame is shown, as its setup reported it.
        permissions: the Permissions Policy features that were granted.
        patience: how long the server may take from its first byte to the end of the handshake, in seconds.
        busy: how long the server may compute without a pause while a client waits, in seconds; 0 for ever.
        dialect: the dialect that the page speaks; by default the preferred one.
        memory: how much memory the page may have, with its workers, in MB; 0 for any amount.
    """

    url: str
    session_id: str
    visibility: str = "hidden"
    permissions: list[str] = field(default_factory=list)
    patience: float = 60.0
    busy: float = 60.0
    dialect: str | None = None
    memory: int = 0

    def options(self, url: Callable[[str], str]) -> dict[str, Any]:
        """Return the options of `bridge.js`; `url` is that of `OpenTab`."""
        return {
            "dialect": outer_dialect(self.dialect).name,
            "url": url(self.url),
            "sessionId": self.session_id,
            "visibility": self.visibility,
            "permissions": self.permissions,
            "timeout": {"handshake": self.patience * 1000, "accept": self.patience * 1000},
        }


class PageListener(Protocol):
    """Callbacks for the events of a page."""

    def on_message(self, server_message: ServerMessage) -> None:
        """Handle a message of the server."""

    def on_gone(self, reason: str, *, outcome: PageOutcome = "lost") -> None:
        """Handle the end of a session: the framed page, the tab or the browser is gone. Called once a session."""

    def on_note(self, text: str) -> None:
        """Show the user a message."""


class BridgePage:
    """The host page in a tab. It frames one server, once."""

    def __init__(self, tab: OpenTab, listener: PageListener, storage: CarriedStorage | None = None) -> None:
        self._listener = listener
        self._storage = storage
        self._first_script = ""  # of the framed page
        self._tab = tab
        self._devtools = tab.devtools
        self._target = tab.target
        self._session = ""
        self._children: set[str] = set()
        self._workers: set[str] = set()
        self._console = PageConsole()
        self._frame = ""  # the framed page's
        self._watch: BusyWatch | None = None
        self._memory = PageMemory(tab.devtools, lambda: [self._frame or self._session, *self._workers])
        self._context = 0
        self._pieces: list[str] = []
        self._documents: set[str] = set()
        self._is_open = self._closing = False
        self._reports: asyncio.Queue[dict[str, Any] | BridgeError] = asyncio.Queue()

    async def load(self) -> None:
        """Load the host page into the tab.

        Raises:
            BrowserGone: the browser has ended.
            PageFailed: the host page did not start.
        """
        devtools = self._devtools
        attached = await devtools.command("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = session = attached["sessionId"]
        devtools.handle(session, self._on_event)
        devtools.longest_of_console = LONGEST_EVENT
        devtools.closed.add_done_callback(self._on_browser_gone)
        devtools.post("Page.enable", session)
        # By default Chromium keeps the bodies of responses, which nobody reads here.
        devtools.post("Network.enable", session, maxTotalBufferSize=0, maxResourceBufferSize=0)
        devtools.post("Runtime.enable", session)
        devtools.post("Runtime.addBinding", session, name=_BINDING)
        # The framed page's process is watched as well: the host page gets no event when it crashes.
        self._attach_to_children(waiting=False)
        for attempt, seconds in enumerate(_HELLO_SECONDS, 1):
            devtools.post("Page.navigate", session, url=self._tab.url(f"{PAGE_URL}?{attempt}"))
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while (hello := await self._next("hello"))["query"] != f"?{attempt}":
                        pass  # late, of a page that the present navigation replaces
                    self._context = hello["context"]
                    if self._tab.context:  # a browser elsewhere may slow down pages that it does not show
                        # Not before: Chromium 156 crashes if an empty page with it navigates.
                        devtools.post("Emulation.setFocusEmulationEnabled", session, enabled=True)
                    return
        raise PageFailed(
            f"The bridge's own page did not start within {_HELLO_SECONDS[-1]:.0f} s: the machine of its browser is"
            " overloaded, or mcpframe is to be installed again."
        )

    async def open(self, framed: FramedPage) -> None:
        """Frame a server and shake hands with it.

        Raises:
            BrowserGone: the browser has ended.
            PageFailed: there will be no session; the message says why.
        """
        if self._storage is not None:
            self._first_script = self._storage.script(framed.url)
            self._attach_to_children(waiting=bool(self._first_script))
        self._call("bridge.open", framed.options(self._tab.url))
        try:
            async with asyncio.timeout(2 * framed.patience + _HELLO_SECONDS[-1]):  # the page has its own deadlines
                await self._next("open")
        except TimeoutError:
            raise PageFailed("The bridge's own page does not answer: its browser is busy, or hangs.") from None
        self._devtools.post("Network.disable", self._session)
        if self._storage is not None and self._frame:
            self._storage.follow(self._devtools, self._frame)
        self._watch = BusyWatch(self._turn, self._on_blocked, framed.busy)
        if framed.memory:
            await self._memory.limit(framed.memory, framed.patience, self._on_too_large)

    async def complete(self) -> None:
        """Make the framed page fetch the deferred files of Python's library now, and not when it is idle.

        Until then the first import of such a file blocks the page while the file is fetched, up to a second on a busy
        machine. Also returns if there is nothing to fetch, or fetching fails.
        """
        fetching = [
            self._devtools.post(
                "Runtime.evaluate",
                child,
                expression="globalThis.mcpframeComplete?.()",
                awaitPromise=True,
            )
            for child in self._children
        ]
        if fetching:
            await asyncio.wait(fetching, timeout=_COMPLETE_SECONDS)

    async def set_up(self, framed: FramedPage) -> dict[str, Any]:
        """Run a server's setup in a visible window; otherwise like `open`.

        Returns:
            The server's report: `title`, `visibility`, `permissions`, and an `error` if it failed.
        """
        self._call("bridge.setup", framed.options(self._tab.url))
        return await self._next("set up")

    def send(self, text: str) -> None:
        """Send one JSON-RPC message. It is lost if the page is gone."""
        start = 0
        while len(text) - start > _PIECE:
            self._call("bridge.piece", text[start : start + _PIECE])
            start += _PIECE
        self._call("bridge.send", text[start:])

    def await_answer(self, awaited: Callable[[], bool]) -> None:
        """End this page if it computes without a pause for too long while `awaited` returns true."""
        if self._watch:
            self._watch.start(awaited)

    def answer_cancelled(self) -> None:
        """Record that a client no longer waits: a page that keeps computing is ended soon."""
        if self._watch:
            self._watch.cancelled()

    async def close(self) -> None:
        """Close the tab, and the framed page with it."""
        self._closing = True
        if self._watch:
            self._watch.stop()
        self._memory.stop()
        if self._storage is not None:
            self._storage.stop()
        self._devtools.closed.remove_done_callback(self._on_browser_gone)
        self._devtools.handle(self._session, None)
        for child in self._children | self._workers:
            self._devtools.handle(child, None)
        with suppress(BrowserGone, TimeoutError):  # the tab is gone already, or will be with its browser
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await self._tab.close()

    def _turn(self) -> asyncio.Future[Any]:
        return self._devtools.post("Runtime.evaluate", self._frame or self._session, expression="0")

    def _on_blocked(self, seconds: float) -> None:
        # Carried out by the browser's own thread, and so even in the middle of a loop.
        self._devtools.post("Runtime.terminateExecution", self._frame or self._session)
        self._end(PageFailed(f"The server's page computed for {seconds:.0f} s without a pause and was ended."))

    def _on_too_large(self, reason: str) -> None:
        self._end(PageFailed(reason), "too_large")

    def _call(self, function: str, argument: object) -> None:
        self._devtools.post(
            "Runtime.callFunctionOn",
            self._session,
            functionDeclaration=f"(argument) => {{ {function}(argument); }}",
            executionContextId=self._context,
            arguments=[{"value": argument}],
        )

    async def _next(self, kind: str) -> dict[str, Any]:
        report = await self._reports.get()
        if isinstance(report, BridgeError):
            raise report
        if report["kind"] == "failed":
            raise PageFailed(report["message"])
        assert report["kind"] == kind
        return report

    def _on_browser_gone(self, _: object) -> None:
        self._end(BrowserGone("Chromium has ended."))

    def _on_event(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.bindingCalled":
                self._on_binding(params["executionContextId"], params["payload"])
            case "Target.attachedToTarget":
                self._children.add(params["sessionId"])
                if params["targetInfo"]["type"] == "iframe":
                    self._frame = params["sessionId"]
                self._watch_child(params["sessionId"])
                if params["waitingForDebugger"]:
                    self._begin_child(params["sessionId"])
            case "Runtime.consoleAPICalled":
                if params["executionContextId"] != self._context:  # of a framed page in the same process
                    self._console.called(params)
            case "Target.detachedFromTarget":
                self._children.discard(params["sessionId"])
                if params["sessionId"] == self._frame:
                    self._frame = ""
                self._devtools.handle(params["sessionId"], None)
            case "Inspector.targetCrashed":
                self._end(PageFailed("The server's page has crashed."))
            case "Inspector.detached":
                self._end(PageFailed("The server's page was closed."))
            case "Network.requestWillBeSent":
                if params.get("type") == "Document" and params.get("frameId") != self._target:
                    self._documents.add(params["requestId"])
            case "Network.responseReceived":
                if params["requestId"] in self._documents:
                    self._on_document(params["response"])
            case "Network.loadingFailed":
                if params["requestId"] in self._documents and not params.get("canceled"):
                    self._on_no_document(params["errorText"].removeprefix("net::"))

    def _attach_to_children(self, *, waiting: bool) -> None:
        self._devtools.post(
            "Target.setAutoAttach", self._session, autoAttach=True, waitForDebuggerOnStart=waiting, flatten=True
        )

    def _watch_child(self, child: str) -> None:
        """Follow the console of a framed page, and those of its workers."""
        self._devtools.handle(child, self._on_child_event)
        self._devtools.post("Runtime.enable", child)
        self._devtools.post(
            "Target.setAutoAttach",
            child,
            autoAttach=True,
            waitForDebuggerOnStart=False,
            flatten=True,
            filter=[{"type": "worker"}],
        )

    def _begin_child(self, child: str) -> None:
        """Let a framed page run, which waits for its first script."""
        if self._first_script:
            self._devtools.post("Page.enable", child)
            self._devtools.post("Page.addScriptToEvaluateOnNewDocument", child, source=self._first_script)
        self._devtools.post("Runtime.runIfWaitingForDebugger", child)

    def _on_child_event(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.consoleAPICalled":
                self._console.called(params)
            case "Target.attachedToTarget":
                self._workers.add(params["sessionId"])
                self._watch_child(params["sessionId"])
            case "Target.detachedFromTarget":
                self._workers.discard(params["sessionId"])
                self._devtools.handle(params["sessionId"], None)
            case "Storage.indexedDBContentUpdated" if self._storage is not None:
                self._storage.on_event(self._devtools, self._frame, params)
            case "Inspector.targetCrashed" | "Inspector.detached":
                self._on_event(method, params)

    def _on_document(self, response: dict[str, Any]) -> None:
        if response["status"] >= 400:
            self._refuse(f"answers with status {response['status']}")
        elif "html" not in response["mimeType"]:
            self._refuse(f"is not a web page, but {response['mimeType'] or 'of no type'}")

    def _on_no_document(self, reason: str) -> None:
        if reason == "ERR_BLOCKED_BY_RESPONSE":  # its frame-ancestors, or X-Frame-Options
            self._refuse("may not be framed here", f"its server has to allow the bridge's origin, {HOST_ORIGIN}")
        else:
            self._refuse(f"cannot be loaded ({reason})")

    def _refuse(self, why: str, remedy: str = "give the address of a page that mcpframe has built") -> None:
        if not self._is_open:
            self._end(PageFailed(f"The address {why}: {remedy}."))

    def _on_binding(self, context: int, payload: str) -> None:
        if context != self._context and self._context:
            return
        head_text, _, text = payload.partition("\n")
        head = json.loads(head_text)
        match head["kind"]:
            case "piece":
                self._pieces.append(text)
            case "message":
                if self._pieces:
                    text, self._pieces = "".join([*self._pieces, text]), []
                self._listener.on_message(ServerMessage(text, head.get("id"), head.get("method")))
            case "closed":
                if self._is_open:  # otherwise "failed" follows, with the reason
                    self._end(PageFailed("The server's page has ended its session."))
            case "error":
                self._listener.on_note(f"{head['name']}: {head['message']}")
            case "setup required":
                self._listener.on_note(
                    f"The server asks for its setup (run this bridge with --setup): {head['message']}"
                )
            case kind:
                self._is_open = self._is_open or kind == "open"
                self._reports.put_nowait({**head, "context": context})

    def _end(self, error: BridgeError, outcome: PageOutcome = "lost") -> None:
        if self._closing:
            return
        self._closing = True
        self._memory.stop()
        if self._is_open:
            self._listener.on_gone(str(error), outcome=outcome)
        else:
            self._reports.put_nowait(error)
