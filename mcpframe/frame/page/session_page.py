"""The author's page: fragments of HTML, elements and their events, assets, visibility.

`browser/dom.py` has the browser's half. A listener is removed when it is stopped, when one of these methods removes its
element from the page, and at the end of the session, so that the browser keeps no Python object alive. For anything
else use `js`, the browser's own object.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import PageError
from mcpframe.frame.page.elements import Element, Handler, Listener, PageEvent
from mcpframe.frame.storage.values import Storage

if TYPE_CHECKING:
    from mcpframe.frame.page.interfaces import Browser, FormsOfTools, Stop

__all__ = ["Assets", "Element", "Page", "PageEvent"]

APP = "#mcpframe-app"
"""The element of the page that belongs to the author."""

_NOT_RELATIVE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|[/#?]|$")
_URLS = ("src", "href", "poster")
_BUSY = "aria-busy"
"""The attribute of `APP` until it has content. It is in the document, which sessions share."""
_draws: ContextVar[bool] = ContextVar("mcpframe_draws", default=False)
"""Whether the server's ui function, or code that it has started, runs."""

OnError = Callable[[str, str], None]


@dataclass(frozen=True)
class Assets:
    """The author's files that the page can use.

    Attributes:
        base: their folder, relative to the page, with a slash at the end.
        files: their paths in it.
        addresses: the addresses of those that are not in the folder: a page may be one file.
    """

    base: str = ""
    files: frozenset[str] = field(default_factory=frozenset)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def url(self, path: str) -> str:
        """Return the URL of an asset, relative to the page.

        Raises:
            PageError: if there is no such asset.
        """
        name = posixpath.normpath(path)
        if name not in self.files:
            listed = ", ".join(sorted(self.files)) or "none"
            raise PageError(
                f"{path!r} is not an asset of this page (its assets: {listed}). Add it to assets in [tool.mcpframe]."
            )
        return self.addresses.get(name) or self.base + name


class Page:
    """The document of this page. The author's part of it is `<main id="mcpframe-app">`.

    Attributes:
        storage: in a server the session's storage, in a page bundle the page's own.
        text_filter: applied to each text that an element of this page is given to show: its content, or what is read
            out or shown at the pointer for it. None by default. Set it to `visible` in a page that shows the texts of
            strangers, such as the names, descriptions and results of a server.
    """

    def __init__(
        self,
        browser: Browser | None,
        assets: Assets | None = None,
        *,
        storage: Storage,
        on_error: OnError | None = None,
        open_forms: Callable[[], FormsOfTools] | None = None,
    ) -> None:
        """Created by boot.

        Args:
            browser: the browser; None outside of one.
            assets: the author's files.
            storage: the storage of the session or page.
            on_error: called with a sentence and a traceback if an event handler fails.
            open_forms: returns its forms for the tools of its server; called once. None if it serves none.
        """
        self.storage = storage
        self.text_filter: Callable[[str], str] | None = None
        self._browser = browser
        self._assets = assets or Assets()
        self._on_error = on_error
        self._open_forms = open_forms
        self._forms: FormsOfTools | None = None
        self._listeners: set[Listener] = set()
        self._tasks: set[asyncio.Future[Any]] = set()
        self._closed = False
        self._visible = False
        self._first_show = False  # begun but not done
        self._unwatch: Stop | None = None
        self._watchers: set[asyncio.Future[None]] = set()

    @property
    def browser(self) -> Browser:
        """The browser's half. Raises `PageError` if there is no page, or its session is over."""
        if self._browser is None:
            raise PageError("There is no page outside a browser.")
        if self._closed:
            raise PageError("The session of this page is over.")
        return self._browser

    @property
    def js(self) -> Any:
        """The browser's `document`."""
        return self.browser.document

    async def show(self, content: object, *, into: str = APP) -> None:
        """Replace the author's part of the page, or an element in it, by a fragment of HTML, a table or a picture.

        Scripts in a fragment don't run: use `import_module`. Relative `src` and `href` that name an asset are resolved
        to it.

        Args:
            content: the path of an asset; or a table (DataFrame, Series), an array, or a picture (a figure of
                matplotlib, an image of Pillow, the bytes of one); or a kept value (`mcpframe.kept`), whose table is
                shown whole, 100 rows at a time.
            into: a CSS selector: its first element gets the content.

        Raises:
            PageError: if there is no such asset or element, it cannot be fetched, or an object has no form in a page.
        """
        target = self.element(into).js
        if not self.element(APP).js.childElementCount:
            self._first_show = True
            self._wait_for_content()
        begin = None
        if isinstance(content, str):
            fragment = await self._fragment(content)
        elif (shows := getattr(content, "__mcpframe_shown__", None)) is not None:
            html, begin = shows()
            fragment = self.browser.parse(html)
        else:
            from mcpframe.frame.results.html import html_of  # late: few pages show objects

            fragment = self.browser.parse(html_of(content))
        target.replaceChildren(fragment)
        self.forget_removed()
        if begin:
            begin(self.element(into))
        self._first_show = False
        self._has_content()

    async def tool_form(self, tool: str, *, into: str = APP, autosubmit: bool = False) -> Element:
        """Put a form for a tool of this page's server into an element, in place of its content.

        The result is shown below it. The tool runs in this session. In a browser with WebMCP, the form also declares
        the tool, for agents to fill in; until the form is removed, the tool is not registered there in another way.

        Args:
            tool: the tool's name.
            into: a CSS selector: its first element gets the form.
            autosubmit: whether an agent's call runs at once; by default the user submits the form.

        Returns:
            The element around the form.

        Raises:
            PageError: if there is no such tool or element, or this page has no session of a server.
        """
        self.browser  # noqa: B018  there are no forms without a page
        if self._open_forms is None:
            raise PageError("This page serves no tools: it has forms for tools in a server's session with its host.")
        if self._forms is None:
            self._forms = self._open_forms()
        form: Element = await self._forms.add(self, tool, into, autosubmit=autosubmit)
        return form

    async def _fragment(self, path: str) -> Any:
        """Return the fragment in an asset, with the addresses of assets in it."""
        fragment = self.browser.parse((await self.asset_bytes(path)).decode("utf-8", "replace"))
        folder = posixpath.dirname(posixpath.normpath(path))
        for name in _URLS:
            for element in fragment.querySelectorAll(f"[{name}]"):
                value = element.getAttribute(name)
                target = posixpath.normpath(posixpath.join(folder, value))
                if not _NOT_RELATIVE.match(value) and target in self._assets.files:
                    element.setAttribute(name, self._assets.url(target))
        return fragment

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Run the server's ui function in this block, which draws the page. Used by boot.

        For other code, the page counts as invisible until that function has shown something, has asked whether the page
        is visible, or has ended.
        """
        self._wait_for_content()
        token = _draws.set(True)
        try:
            yield
        finally:
            _draws.reset(token)
            if not self._first_show:
                self._has_content()

    def element(self, selector: str) -> Element:
        """Return the first element of the page that a CSS selector matches.

        Raises:
            PageError: if there is none.
        """
        return Element(self.js.documentElement, self).element(selector)

    def elements(self, selector: str) -> list[Element]:
        """Return all elements of the page that a CSS selector matches."""
        return Element(self.js.documentElement, self).elements(selector)

    def asset_url(self, path: str) -> str:
        """Return the URL of an asset, relative to the page. Raises `PageError` if there is no such asset."""
        self.browser  # noqa: B018  there are no URLs without a page
        return self._assets.url(path)

    async def asset_bytes(self, path: str) -> bytes:
        """Fetch an asset. Raises `PageError` if there is no such asset, or it cannot be fetched."""
        url = self.asset_url(path)
        try:
            return await self.browser.fetch(url)
        except OSError as error:
            again = "reload the page if its site was published anew meanwhile"
            raise PageError(f"{path} of this page could not be fetched ({error}): {again}.") from error

    async def import_module(self, path: str) -> Any:
        """Import one of the author's JavaScript modules. Its relative imports resolve to other assets.

        Args:
            path: an asset.

        Returns:
            The module as a Pyodide proxy: `module.name(...)` calls its exports.

        Raises:
            PageError: if there is no such asset, it cannot be fetched, or it raises.
        """
        return await self.browser.import_module(self.asset_url(path))

    def download(self, name: str, data: bytes | str, kind: str = "application/octet-stream") -> None:
        """Offer the user a file as a download. A sandboxed frame needs `allow-downloads` for it.

        Args:
            name: the file's name.
            data: its content.
            kind: its media type.
        """
        self.browser.download(name, data.encode() if isinstance(data, str) else data, kind)

    def on(self, kind: str, handler: Handler) -> Stop:
        """Call a function for every event of the window, such as `"resize"`, until stopped; see `Element.on`."""
        return Element(self.js.defaultView, self).on(kind, handler)

    @property
    def visible(self) -> bool:
        """Whether any part of the page is visible now. False outside a browser, and until the first `show` is done."""
        if self._browser is None or self._closed:
            return False
        self._watch()
        if _draws.get() and not self._first_show:
            self._has_content()
        return self._visible and not any(app.js.hasAttribute(_BUSY) for app in self.elements(APP))

    async def visibility(self) -> AsyncIterator[bool]:
        """Yield whether the page is visible, now and at every change, until the session is over."""
        known: bool | None = None
        while not self._closed:
            visible = self.visible
            if visible != known:
                known = visible
                yield visible
            elif self._browser is None:
                return
            else:
                change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._watchers.add(change)
                try:
                    await change
                finally:
                    self._watchers.discard(change)

    def close(self) -> None:
        """Remove all listeners. Called by boot when the session is over."""
        self._closed = True
        if self._forms:
            self._forms.close()
        for listener in list(self._listeners):
            listener.stop()
        for task in list(self._tasks):
            task.cancel()
        if self._unwatch:
            self._unwatch()
            self._unwatch = None
        self._wake()

    # For elements

    def listen(self, target: Any, kind: str, callback: Callable[[Any], None], lost: Stop | None = None) -> Stop:
        """Listen to an element until stopped; `lost` is called if the element is removed from the page before that.

        The target may also be the window, which is never removed. The callback runs in a copy of the caller's context,
        as the browser calls it without one.
        """
        context = copy_context()

        def call(js: Any) -> None:
            context.copy().run(callback, js)  # copied: one event may cause another of the same listener

        listener = Listener(self._listeners, target, self.browser.listen(target, kind, call), lost)
        return listener.stop

    def forget_removed(self) -> None:
        """Stop listening to elements that are no longer in the page."""
        for listener in [item for item in self._listeners if not getattr(item.target, "isConnected", True)]:
            listener.stop()
            if listener.lost:
                listener.lost()

    def run(self, act: Callable[[], Any], what: str) -> None:
        """Call an event handler; an asynchronous one continues in a task. Exceptions are reported."""
        try:
            result = act()
        except BaseException as error:  # noqa: BLE001  an author's handler may raise anything
            self._report(error, what)
            return
        if isinstance(result, Awaitable):
            task = asyncio.ensure_future(self._awaited(result, what))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _awaited(self, result: Awaitable[Any], what: str) -> None:
        try:
            await result
        except asyncio.CancelledError:
            raise  # by `close`, or the handler's own
        except BaseException as error:  # noqa: BLE001  a task would pass SystemExit to the event loop
            self._report(error, what)

    def _report(self, error: BaseException, what: str) -> None:
        from mcpframe.frame.page import hints

        hints.explain_now(error)
        title = f"{what} raised {type(error).__name__}: {error}".rstrip(": ")
        detail = "".join(traceback.format_exception(error))
        if self._on_error:
            self._on_error(title, detail)

    def _wait_for_content(self) -> None:
        for app in self.elements(APP):
            app.set(_BUSY, "true")

    def _has_content(self) -> None:
        for app in self.elements(APP):
            app.set(_BUSY, None)
        self._wake()

    def _watch(self) -> None:
        if self._unwatch is None and not self._closed:
            self._unwatch = self.browser.watch(self._on_visibility)

    def _on_visibility(self, visible: bool) -> None:
        if visible is not self._visible:
            self._visible = visible
            self._wake()

    def _wake(self) -> None:
        for change in self._watchers:
            if not change.done():
                change.set_result(None)
