"""`page.interfaces.Browser` in a real browser. A thin adapter without decisions of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import JsException, create_proxy, to_js

from mcpframe.frame.browser import window
from mcpframe.frame.core.errors import PageError

_new_object = js.Object.fromEntries


class DomBrowser:
    """This page's browser."""

    def __init__(self, loader: Any) -> None:
        """Use this page's document.

        Args:
            loader: the loader's callbacks; `import_module(url)` is a dynamic import, which only JavaScript can do.
        """
        self._loader = loader

    @property
    def document(self) -> Any:
        return js.document

    def listen(self, target: Any, kind: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call back for every event of a kind."""
        proxy = create_proxy(callback)
        target.addEventListener(kind, proxy)

        def stop() -> None:
            nonlocal proxy
            if proxy is not None:
                target.removeEventListener(kind, proxy)
                proxy.destroy()
                proxy = None

        return stop

    def watch(self, changed: Callable[[bool], None]) -> Callable[[], None]:
        """Call back now and whenever the page becomes visible or invisible.

        A frame that its host doesn't display has no size; one that was scrolled away does not intersect the viewport;
        a tab in the background is hidden.
        """
        intersects = True

        def look(*_: Any) -> None:
            changed(bool(intersects and js.innerWidth and js.innerHeight and js.document.visibilityState == "visible"))

        def on_intersection(entries: Any, _: Any) -> None:
            nonlocal intersects
            intersects = bool(entries[entries.length - 1].isIntersecting)
            look()

        proxies = [create_proxy(look), create_proxy(on_intersection)]
        observer = js.IntersectionObserver.new(proxies[1])
        observer.observe(js.document.documentElement)
        js.addEventListener("resize", proxies[0])
        js.document.addEventListener("visibilitychange", proxies[0])
        look()

        def stop() -> None:
            observer.disconnect()
            js.removeEventListener("resize", proxies[0])
            js.document.removeEventListener("visibilitychange", proxies[0])
            while proxies:
                proxies.pop().destroy()

        return stop

    def agent_answer(self, event: Any) -> Callable[[str], None] | None:
        """Return what answers the agent that has submitted a form (WebMCP); None if a person has."""
        if not getattr(event, "agentInvoked", False):
            return None
        answer = js.Promise.withResolvers()
        event.respondWith(answer.promise)
        return lambda text: answer.resolve(js.JSON.parse(text))

    def parse(self, html: str) -> Any:
        """Return a document fragment."""
        template = js.document.createElement("template")
        template.innerHTML = html
        return template.content

    async def fetch(self, url: str) -> bytes:
        """Fetch a file of the bundle."""
        return await window.fetch_bytes(url)

    async def import_module(self, url: str) -> Any:
        """Import a JavaScript module of the bundle."""
        try:
            return await self._loader.import_module(url)
        except JsException as error:
            raise PageError(f"The JavaScript module {url} could not be imported: {error}") from None

    async def read(self, file: Any) -> bytes:
        """Return the content of a `File` or `Blob`."""
        try:
            data: bytes = (await file.arrayBuffer()).to_bytes()
        except JsException as error:
            raise OSError(f"{getattr(file, 'name', 'The file')} could not be read: {error}") from None
        return data

    def download(self, name: str, data: bytes, kind: str) -> None:
        """Offer the user a file."""
        blob = js.Blob.new(to_js([to_js(data)]), to_js({"type": kind}, dict_converter=_new_object))
        url = js.URL.createObjectURL(blob)
        link = js.document.createElement("a")
        link.href, link.download = url, name
        link.click()
        js.setTimeout(js.URL.revokeObjectURL.bind(js.URL), 60_000, url)  # the download has begun by then
