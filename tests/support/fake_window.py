"""A pair of windows without a browser: the rules of `postMessage` in plain Python.

A message is delivered later and in order, only where the target origin fits the receiving document, and with the
sender's origin, whatever the message says.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from mcpframe.frame.core.events import Departure, Inbound, Inbox, Port

STRANGER = "https://stranger.example"


def inbound(message: Any, *, origin: str, from_peer: bool = True) -> Inbound:
    """Return a message event with this data, as `JSON.stringify` writes it."""
    return Inbound(origin, from_peer, lambda: json.dumps(message, separators=(",", ":")))


class FakePort:
    """One end of a channel, without a browser.

    Attributes:
        posted: every message that was posted to it.
        hear: delivers a message of its other end; None while nobody listens.
        closed: whether this end was closed.
        other: the other end, if the test has both.
    """

    def __init__(self) -> None:
        self.other: FakePort | None = None
        self._waiting: list[str] = []
        self.posted: list[Any] = []
        self.hear: Callable[[Callable[[], str]], None] | None = None
        self.closed = False

    @classmethod
    def pair(cls) -> tuple[FakePort, FakePort]:
        """Return both ends of a channel, each of which keeps what comes before it listens."""
        one, two = cls(), cls()
        one.other, two.other = two, one
        return one, two

    def listen(self, deliver: Callable[[Callable[[], str]], None]) -> None:
        self.hear = deliver
        for text in self._waiting:
            asyncio.get_running_loop().call_soon(self._take, text)

    def post(self, text: str) -> None:
        self.posted.append(json.loads(text))
        if self.other and self.other.hear:
            asyncio.get_running_loop().call_soon(self.other._take, text)
        elif self.other:
            self.other._waiting.append(text)

    def _take(self, text: str) -> None:
        if self.hear:
            self.hear(lambda: text)

    def leave(self, *, close: bool) -> None:
        self.hear = None
        self.closed |= close


def handing_over(*ports: Port, origin: str, message: Any = "init", from_peer: bool = True) -> Inbound:
    """Return a message event with ports."""
    return Inbound(origin, from_peer, lambda: json.dumps(message), ports=lambda: ports)


class FakeWindow:
    """One page's view of its peer.

    Attributes:
        origin: the origin of the page itself.
        posted: every message the page posted, as `(message, target_origin)`.
        peer: the other page; None if there is none.
        inbox: what happened before anybody listened.
        ports: this page's ends of the channels whose other ends it handed over.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.peer: FakeWindow | None = None
        self.posted: list[tuple[Any, str]] = []
        self.inbox = Inbox()
        self.ports: list[FakePort] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._listeners: list[tuple[Callable[[Inbound], None], Callable[[Departure], None]]] = []

    @classmethod
    def pair(cls, outer: str, inner: str) -> tuple[FakeWindow, FakeWindow]:
        """Return an outer and an inner page that see each other."""
        one, two = cls(outer), cls(inner)
        one.peer, two.peer = two, one
        return one, two

    @classmethod
    def alone(cls, origin: str) -> FakeWindow:
        """Return a page's own window: it hears what it posts."""
        window = cls(origin)
        window.peer = window
        return window

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        listener = deliver, gone
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def take_inbox(self) -> Inbox:
        inbox, self.inbox = self.inbox, Inbox()
        return inbox

    def post(self, text: str, target_origin: str) -> None:
        self.posted.append((json.loads(text), target_origin))
        for count, future in self._waiting:
            if len(self.posted) >= count and not future.done():
                future.set_result(None)
        peer = self.peer
        if peer is not None and target_origin in ("*", peer.origin):
            asyncio.get_running_loop().call_soon(peer.take, Inbound(self.origin, True, lambda: text))

    def hand_over(self, text: str, target_origin: str) -> FakePort:
        near, far = FakePort.pair()
        self.ports.append(near)
        self.posted.append((json.loads(text), target_origin))
        if self.peer is not None and target_origin in ("*", self.peer.origin):
            event = Inbound(self.origin, True, lambda: text, ports=lambda: [far])
            asyncio.get_running_loop().call_soon(self.peer.take, event)
        return near

    def when_posted(self, count: int) -> asyncio.Future[None]:
        """Return a future that is done once the page has posted so many messages."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((count, future))
        return future

    def take(self, event: Inbound) -> None:
        """Receive a message event from any source."""
        for deliver, _ in tuple(self._listeners):
            deliver(event)

    def peer_departs(self, departure: Departure) -> None:
        """Report that the peer's document was replaced."""
        for _, gone in tuple(self._listeners):
            gone(departure)

    @property
    def listening(self) -> bool:
        """Whether there is a listener."""
        return bool(self._listeners)
