"""The page of a tab, over DevTools: one document after another, each with a world of the hub's own in it.

`static/hub/devtools.js` runs in that world and reports through a binding that exists only there. The origin and the
address of a page are the browser's.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from functools import partial
from typing import Any, Protocol

from mcpframe.frame.core.errors import MessageTooLarge
from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.frame_numbers import FrameNumbers
from mcpframe.hub.core.names import domain_of, origin_of
from mcpframe.hub.core.pieces import Joiner, cut
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.page_relay import PageRelay, log_failure
from mcpframe.kit.base.data import HOST_JSON, PIECES, script_with
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.hub.tabs.script_half import ScriptHalf

log = logging.getLogger(__name__)

_NAME = f"mcpframe-hub-{secrets.token_hex(8)}"
"""The name of the hub's world, and of its binding: several hubs may attach to one browser."""


class PageOwner(Protocol):
    """The owner of the pages.

    Attributes:
        answers_dialogs: Whether to answer the dialogs of pages, as no user sees them.
    """

    transport: PortTransport
    clock: Clock
    answers_dialogs: bool

    def allows(self, url: str) -> bool:
        """Return whether the tools of a page are relayed, given its address."""
        ...

    def seen(self, tab: int) -> None:
        """Note that a page's visibility may have changed."""
        ...


class HubPage:
    """The page of a tab.

    Args:
        session: The id of the session with the page.
        target: The id of the page, and of its main frame.

    Attributes:
        visible: Whether the page can be seen.
        focused: Whether it has the keyboard focus.
        ended: Done when the page is gone.
        leaving: The task that ends the last document; None if there was none.
    """

    def __init__(self, devtools: DevTools, session: str, target: str, tab: int, owner: PageOwner) -> None:
        self.devtools = devtools
        self.session = session
        self.target = target
        self.tab = tab
        self.visible = self.focused = False
        self.leaving: asyncio.Task[None] | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = owner
        self._loaded: asyncio.Future[None] | None = None
        self._has_come = False
        self._loader = ""
        """The id of the document being loaded; those that have loaded meanwhile are in `_loads`."""
        self._loads: set[str] = set()
        self._world = 0
        """The id of the world's context; 0 for no document."""
        self._unique = self._main = ""
        """The unique ids of the contexts of the hub's world and of the page's own."""
        self._main_id = 0
        self._prerendered = True
        self._relay: PageRelay | None = None
        self._shown = "A page"  # in the log
        self._numbers = FrameNumbers()
        self._serving: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._pieces = Joiner(MESSAGE_BYTES, limits.SCRIPT_PIECES)

    def start(self) -> None:
        """Add the hub's world to every document of this page, including the present one."""
        self.devtools.handle(self.session, self._on_event)
        post = self.devtools.post
        post("Page.enable", self.session)
        post("Page.setLifecycleEventsEnabled", self.session, enabled=True)
        post("Runtime.enable", self.session)
        post("Runtime.addBinding", self.session, name=_NAME, executionContextName=_NAME)
        options = {"binding": _NAME, "most": limits.HUB_MESSAGE_BYTES, "piece": limits.SCRIPT_PIECE_CHARACTERS}
        install, page = script_with("hub/devtools.js", PIECES), script_with("hub/page.js", HOST_JSON)
        script = f"{install}({page}, {json.dumps(options)})"
        post(
            "Page.addScriptToEvaluateOnNewDocument",
            self.session,
            source=script,
            worldName=_NAME,
            runImmediately=True,
        )

    async def load(self, url: str) -> None:
        """Go to an address, and wait until it is loaded.

        Raises:
            BrowserGone: It cannot be loaded, or the page is gone; the message says why.
        """
        self._loaded, self._has_come = asyncio.get_running_loop().create_future(), False
        self._loads = set()
        try:
            navigated = await self._unless_ended(self.devtools.post("Page.navigate", self.session, url=url))
            if error := navigated.get("errorText"):
                raise BrowserGone(str(error).removeprefix("net::"))
            self._loader = navigated.get("loaderId", "")
            if self._loader and self._loader not in self._loads:  # without an id it is in the same document
                await self._unless_ended(self._loaded)
        finally:
            self._loaded, self._loader = None, ""

    async def show(self, html: str, expression: str) -> Any:
        """Show a page of the hub's own in this one, which must be empty, and return the result of an expression in it.

        Args:
            expression: A JavaScript expression.

        Raises:
            BrowserGone: The page was closed or left.
        """
        self.devtools.post("Page.setDocumentContent", self.session, frameId=self.target, html=html)
        evaluated = await self._unless_ended(
            self.devtools.post(
                "Runtime.evaluate", self.session, expression=expression, awaitPromise=True, returnByValue=True
            )
        )
        if "exceptionDetails" in evaluated:
            raise BrowserGone("The hub's own page has failed.")
        return evaluated["result"].get("value")

    async def _unless_ended(self, future: asyncio.Future[Any]) -> Any:
        await asyncio.wait({future, self.ended}, return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise BrowserGone("The page was closed.")
        return future.result()

    def end(self) -> None:
        """Note that the page is gone, or that the hub leaves it."""
        self.devtools.handle(self.session, None)
        self.call(self._unique, "stop")
        self._leave()
        self.visible = self.focused = False
        if not self.ended.done():
            self.ended.set_result(None)

    # Commands to a document

    def call(self, world: str, function: str, *arguments: object) -> None:
        """Call a function of `static/hub/devtools.js` in one document. Does nothing if that is gone."""
        if not world or world != self._unique:
            return
        self.devtools.post(
            "Runtime.callFunctionOn",
            self.session,
            functionDeclaration=f"(...given) => globalThis.mcpframeHub.{function}(...given)",
            uniqueContextId=world,  # other ids are those of a process, and another document's may be the same
            arguments=[{"value": each} for each in arguments],
        )

    def post(self, world: str, source: int, text: str, origin: str) -> None:
        """Post a message in one document."""
        *pieces, (last, _) = cut(text, limits.SCRIPT_PIECE_CHARACTERS)
        for piece, _ in pieces:
            self.call(world, "piece", piece)
        self.call(world, "post", source, last, origin)

    def _close(self, world: str) -> None:
        """Stop relaying a document: its port is closed."""
        if self._unique == world:
            self._relay = None
            if self._serving is not None:
                self._serving.cancel()

    # Events

    def _on_event(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.executionContextCreated":
                self._on_context(params["context"])
            case "Runtime.executionContextDestroyed":
                if params["executionContextId"] == self._world:
                    self._leave()
                elif params["executionContextId"] == self._main_id:
                    self._main = ""
            case "Runtime.executionContextsCleared":
                self._main = ""
                self._leave()
            case "Runtime.bindingCalled":
                if params["name"] == _NAME and params["executionContextId"] == self._world:
                    self._on_piece(params["payload"])
            case "Page.loadEventFired":
                if self._loaded is not None and self._has_come and not self._loaded.done():
                    self._loaded.set_result(None)  # not that of the earlier empty page
            case "Page.lifecycleEvent":
                # Unlike the other event, it is also sent for a document loaded before the browser began to report on
                # it.
                if self._loaded is not None and params["name"] == "load" and params["frameId"] == self.target:
                    self._loads.add(params["loaderId"])
                    if params["loaderId"] == self._loader and not self._loaded.done():
                        self._loaded.set_result(None)
            case "Page.javascriptDialogOpening":
                if self._owner.answers_dialogs:
                    accept = params.get("type") in ("alert", "beforeunload")
                    self.devtools.post("Page.handleJavaScriptDialog", self.session, accept=accept)
            case "Inspector.targetCrashed":
                log.warning("%s has crashed.", self._shown)
                self._main = ""
                self._leave()
                if self._loaded is not None and not self._loaded.done():
                    self._loaded.set_exception(BrowserGone("The page has crashed."))

    def _on_context(self, context: dict[str, Any]) -> None:
        about = context.get("auxData") or {}
        if about.get("frameId") != self.target:
            return
        if about.get("isDefault"):
            self._main_id, self._main = context["id"], context["uniqueId"]
            self._has_come = True
            self._changed.set()
        elif context["name"] == _NAME:
            self._leave()
            self._world, self._unique = context["id"], context["uniqueId"]
            self._serving = asyncio.get_running_loop().create_task(self._serve(self._unique))
            self._serving.add_done_callback(log_failure)

    def _leave(self) -> None:
        """Leave a document that is gone: its port is closed before the effects of its end arrive."""
        self._world, self._unique = 0, ""
        self._prerendered = True
        self._pieces.clear()
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        if self._serving is not None:
            self._serving.cancel()
            self.leaving, self._serving = self._serving, None

    async def _serve(self, world: str) -> None:
        """Relay a document, if its page is allowed, until this is cancelled."""
        try:
            tree = await self.devtools.post("Page.getFrameTree", self.session)
            frame = tree["frameTree"]["frame"]
            url, origin = frame["url"], frame["securityOrigin"]
            if origin_of(url) != origin or not self._owner.allows(url):
                return  # also a sandboxed document, whose origin is opaque
            self.call(world, "see")
            while self._prerendered or not self._main:
                self._changed.clear()
                await self._changed.wait()
            half = await ScriptHalf.create(self.devtools, self.session, self._main)
        except BrowserGone as error:
            log.debug("A document was gone before it was relayed: %s", error)
            return
        owner, self._shown = self._owner, f"A page of {domain_of(url)}"
        self._relay = PageRelay(
            self.tab,
            url,
            origin,
            _WorldHalf(self, world),
            DocumentTools(half),
            owner.transport,
            owner.clock,
            allows=owner.allows,
            numbers=self._numbers,
            on_close=partial(self._close, world),
        )
        await self._relay.serve()

    def _on_piece(self, text: str) -> None:
        try:
            if (whole := self._pieces.add_marked(text)) is not None:
                self._on_report(json.loads(whole))
        except (MessageTooLarge, ValueError, KeyError, TypeError, RecursionError):
            log.warning("%s has sent a report that is ignored.", self._shown)

    def _on_report(self, report: dict[str, Any]) -> None:
        if report["kind"] != "seen":
            if self._relay is not None:
                self._relay.report(report)
        else:
            self.visible, self.focused = report["visible"] is True, report["focused"] is True
            self._prerendered = report["prerendered"] is True
            self._changed.set()
            self._owner.seen(self.tab)


class _WorldHalf:
    """`static/hub/page.js` in one document: a `hub.relay.half.PageHalf` that is never asked."""

    def __init__(self, page: HubPage, world: str) -> None:
        self._page = page
        self._world = world

    def tell(self, function: str, *arguments: Any) -> None:
        if function == "post":
            self._page.post(self._world, *arguments)
        else:
            self._page.call(self._world, function, *arguments)
