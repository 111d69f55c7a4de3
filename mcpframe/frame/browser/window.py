"""The window of the host, for a page in a frame or popup.

A thin adapter without decisions: it turns a `message` event into an `Inbound`, and a text into `postMessage`.
Only JSON text crosses between Python and JavaScript: a `Map`, `undefined` or a `BigInt` cannot leak, and a message
costs one string.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import js
from pyodide.ffi import JsException, JsProxy, create_proxy

if TYPE_CHECKING:
    from mcpframe.frame.core.events import Departure
from mcpframe.frame.core.events import Inbound, Inbox, Large, Unreadable

_parse = js.JSON.parse
_stringify = js.JSON.stringify
# `is` and `from` are keywords of Python
_same = getattr(js.Object, "is")
_map = getattr(js.Array, "from")


class PeerWindow:
    """The window of the peer: the host, which framed this page or opened it as a popup, or a page that this one framed.

    `frames.py` notices the departure of a page that this one framed.
    """

    def __init__(self, peer: Any) -> None:
        """Communicate with this window only.

        Args:
            peer: a `WindowProxy`.
        """
        self._peer = peer

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Listen for message events; see `events.Window`.

        `gone` is never called: a frame does not outlive the document that framed it.
        """
        inbound = self._reader()
        listener = create_proxy(lambda event: deliver(inbound(event)))
        js.addEventListener("message", listener)

        def stop() -> None:
            nonlocal listener
            if listener is not None:
                js.removeEventListener("message", listener)
                listener.destroy()
                listener = None

        return stop

    def take_inbox(self) -> Inbox:
        """Take over from `inbox.js`, which listens in a server's page from its first byte until now."""
        inbox = getattr(js, "mcpframeInbox", None)
        if inbox is None:
            return Inbox()
        inbound = self._reader()
        taken = inbox.take()
        events = tuple(inbound(event) for event in taken.events)
        replies = tuple(map(str, taken.replies))
        return Inbox(events, int(taken.dropped), bool(taken.called), replies, bool(taken.refused))

    def _reader(self) -> Callable[[Any], Inbound]:
        """Return a function that turns a message event into an `Inbound`."""
        peer = self._peer
        # Not at import: a snapshot keeps only those browser objects that can be looked up by name.
        source = js.Object.getOwnPropertyDescriptor(js.MessageEvent.prototype, "source").get
        one = js.Array.of(0)
        read = _reading()

        def inbound(event: Any) -> Inbound:
            # `event.source == peer`, without bringing the source into Python: to wrap a window of another origin costs
            # half a millisecond, for every message of a stranger. This costs six microseconds.
            from_peer = _map(one, source, event).includes(peer)
            return Inbound(event.origin, from_peer, _text(event, read), None, lambda: [*map(ChannelPort, event.ports)])

        return inbound

    def post(self, text: str, target_origin: str) -> None:
        """Post to the host; see `events.Window`."""
        self._peer.postMessage(_parse(text), target_origin)


class ChannelPort:
    """A `MessagePort`: `events.Port`."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def listen(self, deliver: Callable[[Callable[[], str]], None]) -> None:
        read = _reading()
        self._listener = create_proxy(lambda event: deliver(_text(event, read)))
        self._port.addEventListener("message", self._listener)
        self._port.start()

    def post(self, text: str) -> None:
        self._port.postMessage(_parse(text))

    def leave(self, *, close: bool) -> None:
        self._port.removeEventListener("message", self._listener)
        self._listener.destroy()
        if close:
            self._port.close()


def _reading() -> Any:
    return getattr(js, "mcpframeText", _stringify)  # from the page's script; other pages have none


def _text(event: Any, read: Any) -> Callable[[], str]:
    return lambda: text_of(event.data, read, is_wanted=False)


def host_window() -> PeerWindow | None:
    """Return the host's window: the parent of a frame, the opener of a popup, None for a page opened by itself."""
    if not _same(js.parent, js.self):
        return PeerWindow(js.parent)
    # In JavaScript, as a window without frames is false in Python, like an empty list.
    return PeerWindow(js.opener) if js.Boolean(js.opener) else None


def own_window() -> PeerWindow:
    """Return this page's own window, whose scripts are the peers of a page that was opened by itself."""
    return PeerWindow(js.self)


def own_origin() -> str:
    """Return the page's origin."""
    return str(js.origin)


def text_of(data: Any, read: Any = _stringify, *, is_wanted: bool = True) -> str:
    """Return the JSON text of `event.data`.

    Args:
        data: the posted value.
        read: `JSON.stringify`, or `textOrReason` of host-json.js, which bounds the cost.
        is_wanted: whether a large message is read, too.

    Raises:
        Large: if it is large, and not wanted yet.
        Unreadable: if it has no JSON text, or one of excessive cost.
        ValueError: if it has no JSON form, such as `undefined`.
    """
    try:
        text = read(data, is_wanted)
    except JsException as error:
        raise ValueError(str(error)) from None
    if isinstance(text, str):
        return text
    if isinstance(text, JsProxy):
        name, reason, head = text
        if name == "Large":
            raise Large(head, lambda: text_of(data, read))
        raise Unreadable(name, reason, head)
    raise ValueError("not JSON")


def before_leaving(act: Callable[[], None]) -> Callable[[], None]:
    """Call a function before the page is left, the last time that its messages have a source.

    The page may still stay, for example if a link is a download. Returns a function that ends this.
    """
    listener = create_proxy(lambda _: act())
    js.addEventListener("beforeunload", listener)

    def stop() -> None:
        js.removeEventListener("beforeunload", listener)
        listener.destroy()

    return stop


def fragment() -> str:
    """Return the hash of this page's URL, `#` included."""
    return str(js.location.hash)


def query() -> str:
    """Return the query of this page's URL, `?` included; empty for none."""
    return str(js.location.search)


def takes_tools(name: str) -> bool:
    """Return whether scripts of this page can register tools: the document has this property, and its policy allows it.

    Args:
        name: see `Dialect.document_property`.
    """
    try:
        if getattr(js.document, name, None) is None:
            return False
        policy = getattr(js.document, "featurePolicy", None)
        return policy is None or "tools" not in policy.features() or bool(policy.allowsFeature("tools"))
    except JsException:  # the page's scripts may have replaced it
        return False


class BrowserRequests:
    """The failed requests of this page: `hints.PageRequests`."""

    def blocked(self, seconds: float) -> list[str]:
        """Return the addresses that the page's policy blocked within the last `seconds`, from the page's script."""
        noted = getattr(js, "mcpframeBlocked", None)
        return [] if noted is None else [str(url) for url in noted(seconds * 1000)]

    def origin(self) -> str:
        """Return the page's origin."""
        return own_origin()


async def fetch_bytes(url: str) -> bytes:
    """Fetch a file of this bundle.

    Args:
        url: relative to the page.

    Raises:
        OSError: if it cannot be reached or the server answers with an error.
    """
    try:
        response = await js.fetch(url)
        if response.ok:
            return bytes((await response.arrayBuffer()).to_bytes())
    except JsException as error:
        raise OSError(str(error)) from None
    raise OSError(f"HTTP status {response.status}")
