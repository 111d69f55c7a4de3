"""A Chromium as DevTools shows it: pages with documents, whose page servers and document tools answer at once."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable
from typing import Any

from mcpframe.frame.dialects.mcp_b.messages import CHECK_READY, READY, STOPPED
from mcpframe.hub.core.names import origin_of
from mcpframe.kit.base.errors import BrowserGone
from tests.support.mcpb import server_result

Json = dict[str, Any]


class FakePage:
    """A page. Its `tools` are those of its page server; None for no server. `context_tools` are the document's."""

    def __init__(self, chromium: FakeChromium, target: str, url: str) -> None:
        self.chromium = chromium
        self.target = target
        self.session = f"session of {target}"
        self.url = url
        self.origin = ""
        self.tools: list[Json] | None = None
        self.context_tools: list[Json] | None = None
        self.world = self.main = 0
        self.changes = 0
        self.listens = self.silent = False
        self.posted: list[Any] = []
        self.calls: list[tuple[str, Json]] = []
        self.answered: list[Any] = []
        self.prerendered = False
        self.visible = True
        self.focused = False
        self.name = ""
        self.waiting: list[tuple[Any, asyncio.Future[Any]]] = []

    def event(self, method: str, params: Json) -> None:
        self.chromium.event(self.session, method, params)

    def document(self, url: str | None = None, origin: str | None = None) -> None:
        """Have a new document."""
        self.leave()
        self.url = url or self.url
        self.main, self.world = next(self.chromium.ids), next(self.chromium.ids)
        self.listens = False
        about = {"frameId": self.target, "isDefault": True, "type": "default"}
        self.origin = origin_of(self.url) if origin is None else origin
        self.event("Runtime.executionContextCreated", {"context": context(self.main, "", about)})
        about = {**about, "isDefault": False, "type": "isolated"}
        self.event("Runtime.executionContextCreated", {"context": context(self.world, self.name, about)})
        self.see()

    def leave(self) -> None:
        self.event("Runtime.executionContextsCleared", {})
        self.fails_functions()

    def fails_functions(self) -> None:
        """Fail the functions that have not returned, as for a document that ends."""
        for _, future in self.waiting:
            if not future.done():
                future.set_exception(BrowserGone("The browser refuses: context was destroyed."))
        self.waiting.clear()

    def report(self, report: Json, *, context_id: int | None = None) -> None:
        text = json.dumps(report)
        half = len(text) // 2
        for payload in (f"+{text[:half]}", f".{text[half:]}"):
            params = {"name": self.name, "payload": payload, "executionContextId": context_id or self.world}
            self.event("Runtime.bindingCalled", params)

    def see(self) -> None:
        seen = {"visible": self.visible, "focused": self.focused, "prerendered": self.prerendered}
        self.report({"kind": "seen", **seen})

    def says(self, payload: Any) -> None:
        """Have the page server post something."""
        if self.listens:
            data = {"channel": "mcp-default", "type": "mcp", "direction": "server-to-client", "payload": payload}
            self.report({"kind": "message", "source": 0, "origin": origin_of(self.url), "text": json.dumps(data)})

    def serves(self, *tools: Json) -> None:
        self.tools = list(tools)
        self.says(READY)

    def stops(self) -> None:
        self.tools = None
        self.says(STOPPED)

    def registers(self, *tools: Json) -> None:
        """Have the document register tools at its `modelContext`."""
        self.context_tools = list(tools)
        self.changes += 1
        for known, future in self.waiting:
            if known is not None and not future.done():
                future.set_result(self.next())

    def next(self) -> Any:
        return by_value(json.dumps({"changes": self.changes, "there": self.context_tools is not None}))

    def heard(self, text: str) -> None:
        message = json.loads(text)["payload"]
        self.posted.append(message)
        if self.tools is None:
            return
        if message == CHECK_READY:
            self.says(READY)
        elif isinstance(message, dict) and "id" in message:
            self.asked(message["id"], message["method"], message.get("params") or {})

    def asked(self, id_: Any, method: str, params: Json) -> None:
        if method == "tools/call":
            self.calls.append((params["name"], params["arguments"]))
            if self.silent:
                return
        result = server_result(method, params, self.tools or [], self.url)
        self.says({"jsonrpc": "2.0", "id": id_, "result": result})

    def function(self, name: str, arguments: list[Any], result: asyncio.Future[Json]) -> None:
        """Execute a function of one of the page's two scripts."""
        if name in ("listen", "stop"):
            self.listens = name == "listen"
        elif name == "see":
            self.see()
        elif name == "post":
            self.heard(arguments[1])
        elif name == "next":
            if arguments[0] == self.changes:
                self.waiting.append((arguments[0], result))
                return
            result.set_result(self.next())
            return
        elif name == "list":
            result.set_result(by_value(json.dumps({"value": self.context_tools})))
            return
        elif name == "run":
            self.calls.append((arguments[1], json.loads(arguments[2])))
            if self.silent:
                self.waiting.append((None, result))
                return
            result.set_result(by_value(json.dumps({"value": f"{arguments[1]} in {self.url}"})))
            return
        result.set_result(by_value(None))


class FakeChromium:
    """DevTools of a browser (`bridge.devtools.DevTools`), and the browser of a hub (`hub.browsers.HubBrowser`)."""

    def __init__(self, *, headless: bool = True) -> None:
        self.headless = headless
        self.returns = False
        self.ids = itertools.count(1)
        self.pages: dict[str, FakePage] = {}
        self.started = 0
        self.tries = 0
        self.failing: Exception | None = None
        self.posted: list[tuple[str, Json]] = []
        self.on_load: Callable[[FakePage], None] = lambda page: None
        self.error: str | None = None
        self.reports_late = False
        """Whether a page has been loaded before it is reported on."""
        self.begin()

    def begin(self) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.handlers: dict[str, Any] = {}

    # The hub's browser

    async def start(self) -> Any:
        self.tries += 1
        if self.failing is not None:
            raise self.failing
        if self.closed.done():
            self.begin()
        self.started += 1
        return self

    async def close(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def crash(self) -> None:
        for page in self.pages.values():
            page.leave()
        self.pages.clear()
        self.closed.set_result(None)

    # DevTools

    def handle(self, session: str, handler: Any) -> None:
        if handler is None:
            self.handlers.pop(session, None)
        else:
            self.handlers[session] = handler

    def event(self, session: str, method: str, params: Json) -> None:
        if handler := self.handlers.get(session):
            handler(method, params)

    async def command(self, method: str, session: str = "", /, **params: Any) -> Json:
        return await self.post(method, session, **params)

    def post(self, method: str, session: str = "", /, **params: Any) -> asyncio.Future[Json]:
        result: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.posted.append((method, params))
        if self.closed.done():
            result.set_exception(BrowserGone("The browser has ended."))
            return result
        page = next((each for each in self.pages.values() if each.session == session), None)
        if session and page is None:
            result.set_exception(BrowserGone("The browser refuses: no such session."))
        elif page is not None:
            self.of_page(page, method, params, result)
        else:
            self.of_browser(method, params, result)
        if not result.done() and method not in ("Runtime.callFunctionOn", "Runtime.evaluate"):
            result.set_result({})
        return result

    def of_browser(self, method: str, params: Json, result: asyncio.Future[Json]) -> None:
        if method == "Target.setAutoAttach":
            for page in self.pages.values():
                self.attach(page)
        elif method == "Target.createTarget":
            page = self.opens(params["url"])
            result.set_result({"targetId": page.target})
        elif method == "Target.closeTarget" and (page := self.pages.get(params["targetId"])):
            self.closes(page)

    def of_page(self, page: FakePage, method: str, params: Json, result: asyncio.Future[Json]) -> None:
        if method == "Runtime.addBinding":
            page.name = params["name"]
        elif method == "Page.addScriptToEvaluateOnNewDocument":
            asyncio.get_running_loop().call_soon(page.document)
        elif method == "Page.getFrameTree":
            frame = {"url": page.url, "securityOrigin": page.origin}
            result.set_result({"frameTree": {"frame": frame}})
        elif method == "Page.navigate":
            result.set_result({"errorText": self.error} if self.error else {"loaderId": "1"})
            if not self.error:
                asyncio.get_running_loop().call_soon(self.loads, page, params["url"])
        elif method == "Runtime.evaluate":
            result.set_result({"result": {"objectId": f"half in {page.main}"}})
        elif method == "Runtime.callFunctionOn":
            name = re.search(r"(?:this|mcpframeHub)\.([a-z]+)", params["functionDeclaration"])
            assert name is not None
            is_stale = params.get("uniqueContextId", f"unique {page.world}") != f"unique {page.world}"
            if is_stale or params.get("objectId", f"half in {page.main}") != f"half in {page.main}":
                result.set_exception(BrowserGone("The browser refuses: no such context."))
            else:
                page.function(name[1], [each["value"] for each in params["arguments"]], result)

    # What a user does

    def opens(self, url: str) -> FakePage:
        page = FakePage(self, f"target {next(self.ids)}", url)
        self.pages[page.target] = page
        if self.handlers:
            self.attach(page)
        return page

    def attach(self, page: FakePage) -> None:
        info = {"targetId": page.target, "type": "page", "url": page.url}
        self.event("", "Target.attachedToTarget", {"sessionId": page.session, "targetInfo": info})

    def loads(self, page: FakePage, url: str) -> None:
        page.document(url)
        self.event("", "Target.targetInfoChanged", {"targetInfo": {"targetId": page.target, "url": url}})
        self.on_load(page)
        if self.reports_late:
            for loader, name in (("0", "load"), ("1", "commit"), ("1", "load")):
                params = {"frameId": page.target, "loaderId": loader, "name": name}
                page.event("Page.lifecycleEvent", params)
        else:
            page.event("Page.loadEventFired", {})

    def closes(self, page: FakePage) -> None:
        page.leave()
        del self.pages[page.target]
        self.event("", "Target.detachedFromTarget", {"sessionId": page.session})
        self.event("", "Target.targetDestroyed", {"targetId": page.target})


def context(id_: int, name: str, about: Json) -> Json:
    return {"id": id_, "uniqueId": f"unique {id_}", "name": name, "auxData": about}


def by_value(value: Any) -> Json:
    return {"result": {"value": value}}
