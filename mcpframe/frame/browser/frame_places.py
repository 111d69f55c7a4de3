"""Places in the browser for a framed page: an iframe in an element of this page, and a popup.

A thin adapter without decisions, like `window.py`: it turns browser events into calls. Listeners are attached
before the page is loaded, and every proxy handed to the browser is destroyed with the window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import js
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js

from mcpframe.frame.browser.window import ChannelPort, PeerWindow
from mcpframe.frame.core.allowed_origins import SELF
from mcpframe.frame.core.errors import PopupBlocked, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import POPUP, POPUP_SIZE, Framing, Place

_POLL_MILLISECONDS = 250
"""The interval of checks whether a popup was closed: its opener gets no event."""

_new_object = js.Object.fromEntries


def absolute(url: str) -> str:
    """Return an address as the browser normalizes it, absolute. A text that is not an address is returned unchanged."""
    try:
        return str(js.URL.new(url, js.document.baseURI).href)
    except JsException:
        return url


def sandbox_address() -> tuple[str, bool]:
    """Return the address of the sandbox proxy that this page was built with, and whether its origin is the page's own.

    Otherwise it is the other one: a preview on this machine has two, `localhost` and 127.0.0.1.

    Raises:
        StateError: if the page was built without one.
    """
    meta = js.document.querySelector("meta[name=mcpframe-sandbox]")
    if not isinstance(meta, JsProxy):
        raise StateError(
            "Views and HTML text run in a sandbox without this page's origin: set sandbox_origin in [tool.mcpframe] "
            "and build the page again, or pass the address of a sandbox.html."
        )
    url = js.URL.new(meta.content, js.document.baseURI)
    host, origin = str(url.hostname), str(meta.getAttribute("data-origin"))
    if origin == SELF:
        return str(url.href), True
    if host == "localhost" or host.endswith(".localhost"):
        url.hostname = "127.0.0.1"
    elif host == "127.0.0.1":
        url.hostname = "localhost"
    else:
        return str(js.URL.new(url.pathname, origin).href), False
    return str(url.href), False


def own_origin() -> str:
    """Return the origin of this page."""
    return str(js.origin)


def place_of(target: Any) -> Place:
    """Return the place for a selector, an element, `POPUP` or a `Place`.

    Raises:
        StateError: if there is no such element in this page.
    """
    if target is POPUP:
        return PopupWindow
    element = js.document.querySelector(target) if isinstance(target, str) else getattr(target, "js", target)
    if not isinstance(element, JsProxy):
        if callable(target):
            place: Place = target
            return place
        raise StateError(f"There is no element {target!r} in this page to put the frame into.")
    return lambda framing: IframeWindow(framing, element)


class IframeWindow:
    """An iframe at the end of an element of this page, as a `FramedWindow`."""

    def __init__(self, framing: Framing, parent: Any) -> None:
        """Prepare an iframe, which is added to the page on entering."""
        self._framing = framing
        self._parent = parent
        self._stop: Callable[[], None] = _nothing

    async def __aenter__(self) -> Self:
        """Put the empty iframe into the page."""
        framing = self._framing
        self._iframe = iframe = js.document.createElement("iframe")
        iframe.name, iframe.title, iframe.className = framing.name, framing.title, "mcpframe"
        if framing.sandbox is not None:
            iframe.setAttribute("sandbox", framing.sandbox)
        if framing.allow:
            iframe.setAttribute("allow", framing.allow)
        if framing.size is not None:
            iframe.style.width, iframe.style.height = framing.size
        self.show(framing.visible)
        self._parent.append(iframe)
        if not iframe.isConnected:
            raise StateError("The element to put the frame into is not in the page.")
        if js.getComputedStyle(iframe).colorScheme == "normal":  # then frames follow the system instead of this page
            declared = js.document.querySelector("meta[name=color-scheme]")
            iframe.style.colorScheme = declared.content if isinstance(declared, JsProxy) else "light"
        self._inner = iframe.contentWindow
        self._peer = PeerWindow(self._inner)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Remove the iframe."""
        self._stop()
        self._iframe.remove()

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen, then load the page; see `events.Window`."""
        iframe, loads = self._iframe, int(self._is_loaded())

        def on_load(_: Any) -> None:
            nonlocal loads
            loads += 1
            if loads > 1:
                gone(Departure.REPLACED)
            elif self._framing.on_load is not None:
                self._framing.on_load()

        def on_change(*_: Any) -> None:
            # Also after the iframe was moved: it then has another window, whose messages are not the peer's.
            if self._inner.closed:
                gone(Departure.REMOVED)

        stop_hearing = self._peer.listen(deliver, gone)
        loaded, changed = create_proxy(on_load), create_proxy(on_change)
        iframe.addEventListener("load", loaded)
        observer = js.MutationObserver.new(changed)
        everything = to_js({"childList": True, "subtree": True}, dict_converter=_new_object)
        root = iframe.getRootNode()
        observer.observe(root, everything)
        while hasattr(root, "host"):  # a shadow root: observers of the tree around its host do not get its changes
            root = root.host.getRootNode()
            observer.observe(root, everything)

        def stop() -> None:
            self._stop = _nothing
            stop_hearing()
            iframe.removeEventListener("load", loaded)
            observer.disconnect()
            loaded.destroy()
            changed.destroy()

        self._stop = stop
        self._load()
        return lambda: self._stop()

    def _load(self) -> None:
        if self._framing.html is None:
            self._iframe.src = self._framing.url
        else:
            self._iframe.srcdoc = self._framing.html

    def _is_loaded(self) -> bool:
        """Return whether the page has loaded before `listen`."""
        return False

    def post(self, text: str, target_origin: str) -> None:
        """Post to the framed page; see `events.Window`."""
        if self._iframe.isConnected:
            self._peer.post(text, target_origin)

    def hand_over(self, text: str, target_origin: str) -> ChannelPort:
        """Post a message with a port of a new channel, and return the other one; see `places.HandingWindow`."""
        return _hand_over(self._inner if self._iframe.isConnected else None, text, target_origin)

    def show(self, visible: bool) -> None:
        """Show or hide the iframe. A hidden one runs without being rendered."""
        self._iframe.hidden = not visible
        self._iframe.style.display = "" if visible else "none"

    def resize(self, width: int | None, height: int | None) -> None:
        """Set the size of the iframe, which then has no border."""
        self._iframe.style.border = "0"
        if width is not None:
            self._iframe.style.width = f"min({width}px, 100%)"
        if height is not None:
            self._iframe.style.height = f"{height}px"


def iframe_place(target: Any) -> Place | None:
    """Return the place for an `iframe` element of this page, or a selector of one; None for anything else.

    Args:
        target: see `place_of`.
    """
    element = js.document.querySelector(target) if isinstance(target, str) else getattr(target, "js", target)
    if not isinstance(element, JsProxy) or getattr(element, "tagName", "") != "IFRAME":
        return None
    return lambda framing: GivenIframe(framing, element)


class GivenIframe(IframeWindow):
    """An existing `iframe` element of the page, as a `FramedWindow`. It is neither changed nor removed."""

    def __init__(self, framing: Framing, iframe: Any) -> None:
        """Prepare to use this element."""
        super().__init__(framing, iframe.parentNode)
        self._iframe = iframe

    async def __aenter__(self) -> Self:
        """Take over the window of the element.

        Raises:
            StateError: if the element is not in the page.
        """
        if not self._iframe.isConnected:
            raise StateError("The iframe is not in the page.")
        self._inner = self._iframe.contentWindow
        self._peer = PeerWindow(self._inner)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        self._stop()

    def _load(self) -> None:
        if not self._has_address():
            super()._load()

    def _is_loaded(self) -> bool:
        """Return whether the page has loaded; assumed for other origins, which cannot be checked."""
        if not self._has_address() or js.document.readyState != "complete":
            return False
        document = self._iframe.contentDocument
        return not isinstance(document, JsProxy) or str(document.URL) != "about:blank"

    def _has_address(self) -> bool:
        return bool(self._iframe.hasAttribute("src") or self._iframe.hasAttribute("srcdoc"))


class PopupWindow:
    """A popup that this page opens, as a `FramedWindow`."""

    def __init__(self, framing: Framing) -> None:
        """Prepare a popup, which is opened on entering."""
        self._framing = framing
        self._stop: Callable[[], None] = _nothing

    async def __aenter__(self) -> Self:
        """Open an empty popup in the middle of this window.

        Raises:
            PopupBlocked: if the browser blocks it.
        """
        width, height = POPUP_SIZE
        left = js.screenX + max(0, (js.outerWidth - width) // 2)
        top = js.screenY + max(0, (js.outerHeight - height) // 2)
        features = f"popup,width={width},height={height},left={int(left)},top={int(top)}"
        self._popup = js.open("", self._framing.name, features)
        if not isinstance(self._popup, JsProxy):  # null
            raise PopupBlocked("The browser blocked the popup: open it by a click, and allow popups for this page.")
        self._peer = PeerWindow(self._popup)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the popup."""
        self._stop()
        self._popup.close()

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen, then load the page; see `events.Window`."""

        def look() -> None:
            if self._popup.closed:
                gone(Departure.REMOVED)

        stop_hearing = self._peer.listen(deliver, gone)
        looking = create_proxy(look)
        timer = js.setInterval(looking, _POLL_MILLISECONDS)

        def stop() -> None:
            self._stop = _nothing
            stop_hearing()
            js.clearInterval(timer)
            looking.destroy()

        self._stop = stop
        self._popup.location.replace(self._framing.url)
        return lambda: self._stop()

    def post(self, text: str, target_origin: str) -> None:
        """Post to the popup; see `events.Window`."""
        if not self._popup.closed:
            self._peer.post(text, target_origin)

    def hand_over(self, text: str, target_origin: str) -> ChannelPort:
        """Post a message with a port of a new channel, and return the other one; see `places.HandingWindow`."""
        return _hand_over(None if self._popup.closed else self._popup, text, target_origin)

    def show(self, visible: bool) -> None:
        """Bring the popup to the front; it cannot be hidden."""
        if visible:
            self._popup.focus()

    def resize(self, width: int | None, height: int | None) -> None:
        """Do nothing: the window belongs to its user."""


def _hand_over(window: Any, text: str, target_origin: str) -> ChannelPort:
    channel = js.MessageChannel.new()
    if window is not None:
        window.postMessage(js.JSON.parse(text), target_origin, js.Array.of(channel.port2))
    return ChannelPort(channel.port1)


def _nothing() -> None:
    pass
