"""Clients from outside the extension: other extensions, web pages, and programs on this machine.

The user decides who may connect. An unknown client waits for the decision, for a minute at most; its messages are
queued meanwhile. Programs connect over native messaging, which the user has allowed by installing it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.consent import shown_name
from mcpframe.hub.core.interfaces import KeyValues
from mcpframe.hub.homes.extension.runtime import ExtensionPort, Sender
from mcpframe.hub.serving.native_clients import NativeClients
from mcpframe.hub.serving.port_clients import HubClients

log = logging.getLogger(__name__)

CLIENTS_KEY = "mcpframe:clients"
"""The storage key of the user's decisions, as JSON text."""
NAMES_KEY = "mcpframe:client-names"
"""The storage key of the names that decided clients give themselves, as JSON text."""
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_CHROME_SAYS = {
    "Specified native messaging host not found.": "It is not installed for this browser.",
    "Access to the specified native messaging host is forbidden.": "It is installed for another extension.",
    "Failed to start native messaging host.": "It could not be started.",
    "Native host has exited.": "It has ended.",
    "Error when communicating with the native messaging host.": "It sent something other than messages.",
}
"""Texts for the popup in place of Chrome's errors about a native messaging host."""


class OutsideClients:
    """The clients from outside.

    Args:
        allowed: The origins that the build has allowed.
        changed: Called when `shown` has changed.
        asks: Called with whether any client waits for a decision, whenever that may have changed.
    """

    def __init__(
        self,
        clients: HubClients,
        store: KeyValues,
        clock: Clock,
        allowed: Iterable[str],
        changed: Callable[[], None],
        asks: Callable[[bool], None],
    ) -> None:
        self._clients = clients
        self._store = store
        self._clock = clock
        self._built = dict.fromkeys(allowed, True)
        self._decided: dict[str, bool] = {}
        self._names: dict[str, str] = {}
        self._changed = changed
        self._asks = asks
        self._waiting: dict[ExtensionPort, _Waiting] = {}
        self._served: set[ExtensionPort] = set()
        self._named: WeakSet[ExtensionPort] = WeakSet()
        self._stop_tick: Callable[[], None] | None = None

    async def load(self) -> None:
        self._decided = {origin: allow is True for origin, allow in (await self._stored(CLIENTS_KEY)).items()}
        self._names = {origin: str(name) for origin, name in (await self._stored(NAMES_KEY)).items()}

    async def _stored(self, key: str) -> dict[str, Any]:
        text = await self._store.get(key)
        try:
            stored = json.loads(text) if text else {}
        except ValueError:
            stored = {}
        return stored if isinstance(stored, dict) else {}

    def shown(self) -> list[dict[str, Any]]:
        """Return the clients for the popup."""
        asking = {str(origin_of_client(port.sender)) for port in self._waiting}
        known = {**self._built, **self._decided}
        return [
            {
                "origin": origin,
                "name": self._names.get(origin, ""),
                "allowed": known.get(origin),
                "asking": origin in asking,
                "connected": sum(origin_of_client(port.sender) == origin for port in self._served),
            }
            for origin in sorted(asking | set(known))
        ]

    def take(self, port: ExtensionPort) -> None:
        origin = origin_of_client(port.sender)
        allowed = {**self._built, **self._decided}.get(origin) if origin is not None else False
        of_origin = self._waiting_of(origin) >= limits.WAITING_PORTS_OF_ORIGIN
        if allowed:
            self._serve(port, ())
        elif allowed is False or of_origin or len(self._waiting) >= limits.WAITING_PORTS:
            log.warning("A client of %s is not allowed to connect.", origin or "an unknown origin")
            port.close()
        else:
            self._hold(port)

    async def decide(self, origin: str, allow: bool) -> None:
        """Apply the user's decision about an origin, to waiting and to later clients."""
        self._decided[origin] = allow
        for port, waiting in list(self._waiting.items()):
            if origin_of_client(port.sender) == origin:
                del self._waiting[port]
                waiting.stop()
                self._serve(port, waiting.kept) if allow else port.close()
        if not allow:
            for port in [each for each in self._served if origin_of_client(each.sender) == origin]:
                self._end(port)
                port.close()
        self._waiting_changed()
        await self._store.set(CLIENTS_KEY, payload.encode(self._decided))
        names = {origin: name for origin, name in self._names.items() if origin in self._decided}
        await self._store.set(NAMES_KEY, payload.encode(names))

    def end(self) -> None:
        """End all waits."""
        for waiting in self._waiting.values():
            waiting.stop()
        if self._stop_tick is not None:
            self._stop_tick()

    def _waiting_of(self, origin: str | None) -> int:
        return sum(origin_of_client(port.sender) == origin for port in self._waiting)

    def _hold(self, port: ExtensionPort) -> None:
        def forget() -> None:
            if (waiting := self._waiting.pop(port, None)) is not None:
                waiting.stop()
                self._waiting_changed()

        def late() -> None:
            forget()
            port.close()

        waiting = self._waiting[port] = _Waiting(self._clock.call_later(limits.DECISION_SECONDS, late))

        def keep(text: str) -> None:
            self._name(port, text)
            if not waiting.keep(text):
                late()

        port.on_message, port.on_close = keep, forget
        self._waiting_changed()

    def _serve(self, port: ExtensionPort, kept: Iterable[str]) -> None:
        def received(text: str) -> None:
            self._name(port, text)
            self._clients.received(port, text)

        port.on_message = received
        port.on_close = lambda: self._end(port)
        if not self._clients.connected(port, str(origin_of_client(port.sender))):
            return
        self._served.add(port)
        for text in kept:
            self._clients.received(port, text)
        if self._stop_tick is None:
            self._stop_tick = self._clock.call_later(limits.KEEP_ALIVE_SECONDS, self._tick)
        self._changed()

    def _name(self, port: ExtensionPort, text: str) -> None:
        """Note the name that a client gives itself with its first message: its origin may be unreadable."""
        if port in self._named:
            return
        self._named.add(port)
        if name := name_of_client(text):
            self._names[str(origin_of_client(port.sender))] = name
            self._changed()

    def _waiting_changed(self) -> None:
        self._asks(bool(self._waiting))
        self._changed()

    def _end(self, port: ExtensionPort) -> None:
        self._clients.closed(port)
        self._served.discard(port)
        self._changed()

    def _tick(self) -> None:
        self._served = {port for port in self._served if port in self._clients}
        text = payload.encode({"type": "keep-alive", "timestamp": int(self._clock.wall() * 1000)})
        for port in self._served:
            try:
                port.post(text)
            except OSError:
                continue  # its end is reported separately
        self._stop_tick = self._clock.call_later(limits.KEEP_ALIVE_SECONDS, self._tick) if self._served else None


@dataclass
class _Waiting:
    """A client that waits for the user's decision, and its queued messages."""

    stop: Callable[[], None]
    kept: list[str] = field(default_factory=list)
    size: int = 0

    def keep(self, text: str) -> bool:
        """Queue a message. Returns whether there was room."""
        self.size += len(text)
        if len(self.kept) >= limits.WAITING_MESSAGES or self.size > limits.HUB_MESSAGE_BYTES:
            return False
        self.kept.append(text)
        return True


class NativeMessaging:
    """The programs of this machine, over native messaging. The native host is restarted when it ends.

    Args:
        start: Has the service worker start the native host.
        changed: Called when there is something new to show.
    """

    def __init__(
        self, clients: HubClients, clock: Clock, start: Callable[[], None], changed: Callable[[], None]
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._start = start
        self._changed = changed
        self._port: ExtensionPort | None = None
        self._pause = limits.NATIVE_RETRY_SECONDS
        self._stop: Callable[[], None] = lambda: None
        self.state: Mapping[str, Any] = {}
        self.error = ""

    def start(self) -> None:
        """Start the native host now, unless it runs."""
        self._stop()
        if self._port is None:
            self._start()

    def take(self, port: ExtensionPort) -> None:
        """Take a port of the native host; it replaces an earlier one. Other senders may use the same port name."""
        if port.sender != Sender():  # the browser reports another sender: an extension, or a web page
            log.warning("A client of %s is not the program of this machine.", origin_of_client(port.sender))
            port.close()
            return
        if self._port is not None:
            self._port.on_close()
        native = NativeClients(self._clients, port.post)

        def received(text: str) -> None:
            if (state := native.received(text)) is not None:
                self.state, self.error, self._pause = state, "", limits.NATIVE_RETRY_SECONDS
                self._changed()

        def closed() -> None:
            native.closed()
            if self._port is port:
                self._port, self.state = None, {}
                self._changed()
                self.later()

        self._port, port.on_message, port.on_close = port, received, closed

    def end(self) -> None:
        """Stop restarting the native host."""
        self._stop()

    def failed(self, error: str) -> None:
        """Record why the native host could not be started, or has ended."""
        self.error = _CHROME_SAYS.get(error, error)
        self._changed()

    def later(self) -> None:
        """Start the native host later, with a growing delay."""
        self._stop()
        self._stop = self._clock.call_later(self._pause, self.start)
        self._pause = min(2 * self._pause, limits.NATIVE_LONGEST_RETRY_SECONDS)


def origin_of_client(sender: Sender) -> str | None:
    """Return the origin of a client, from the browser; None if it has none."""
    if sender.extension is not None:
        return f"chrome-extension://{sender.extension}"
    return sender.origin if sender.origin and sender.origin != "null" else None


def name_of_client(text: str) -> str:
    """Return a client's own name in a message, visible and short; empty for none.

    Args:
        text: JSON text: `initialize`, or any request of the protocol era without sessions.
    """
    try:
        message = payload.decode(text, max_bytes=limits.FIRST_MESSAGE_BYTES, max_nesting=limits.HUB_MESSAGE_NESTING)
        params = message["params"]
        info = params["clientInfo"] if "clientInfo" in params else params["_meta"][_CLIENT_INFO]
        name = info.get("title") or info["name"]
    except (MessageError, KeyError, TypeError, AttributeError):
        return ""
    return shown_name(name) if isinstance(name, str) else ""
