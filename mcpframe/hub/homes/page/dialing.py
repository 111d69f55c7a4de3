"""A tab's port to the leading tab's hub. It is dialled again when another tab leads.

`static/host/hub-port.js` is the same in JavaScript; `tests/vectors/hub_tabs` tests both.

    off ── start ──> numbering ── the tab's number is its own, or not ──> locking
    locking ── the port's lock is held ──> calling ── open ──> open ── lost ──> locking …

Lost means: the hub's lock is released, another hub announces that it leads, the hub closes the port, or it does not
respond. Each time the port gets a new id, new channels and a new lock.

A tab remembers its number over a reload, and holds a lock for it. A duplicated tab remembers the same number, does not
get the lock, and so gets a new number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.hub.core import limits
from mcpframe.hub.homes.page import wire
from mcpframe.hub.homes.page.tab_browser import TabBrowser, TabChannel
from mcpframe.hub.homes.page.wire import NUMBERED, ChannelNames, Connect, Hello, PortKind, is_name


class Dialled:
    """One port to the hub.

    Attributes:
        on_open: Called when the hub has the port: `post` works from then on.
        on_message: Called with each message of the hub, as text.
        on_control: Called with each control message of the hub.
        on_lost: Called when the hub has lost the port. It is dialled again automatically.
        on_unresponsive: Called when no hub has responded for a while; if there was one, just before `on_lost`.
    """

    def __init__(self, place: TabBrowser, names: ChannelNames, kind: PortKind) -> None:
        self._place = place
        self._names = names
        self._kind: PortKind = kind
        self._key = names.key(f"number:{kind}")
        self.on_open: Callable[[], None] = _nothing
        self.on_message: Callable[[str], None] = _nothing
        self.on_control: Callable[[Mapping[str, Any]], None] = _nothing
        self.on_lost: Callable[[], None] = _nothing
        self.on_unresponsive: Callable[[], None] = _nothing
        self._directory: TabChannel | None = None
        self._channel: TabChannel | None = None
        self._releases: list[Callable[[], None]] = []
        self._number: int | None = None
        self._release_number: Callable[[], None] = _nothing
        self._port = ""
        self._is_locked = False
        self._strikes = 0
        self._stop_timer: Callable[[], None] = _nothing
        self.hub: str | None = None
        """The id of the hub; None while there is none."""

    def start(self) -> None:
        """Look for the hub, without a deadline. Starting again does nothing."""
        if self._directory is None:
            self._directory = self._place.channel(self._names.directory, self._heard_in_directory)
            self._claim()

    def stop(self) -> None:
        """End the port, without a call of `on_lost`. It can be started again."""
        self._off()
        self._release_number()
        self._number = None

    def _off(self) -> None:
        if self._directory is not None:
            self._hang_up()
            self._directory.close()
            self._directory = None
            if self._number is None:
                self._release_number()

    def pause(self) -> None:
        """End the port as if the hub had ended. It can be started again, and keeps its number."""
        was_open = self.hub is not None
        self._off()
        if was_open:
            self.on_lost()

    def post(self, text: str) -> bool:
        """Post a message to the hub. Returns whether there is one; otherwise the message is dropped."""
        return self._say(wire.message(text))

    def control(self, kind: str, **more: Any) -> bool:
        """Post a control message to the hub. Returns whether there is one."""
        return self._say(wire.control(kind, **more))

    def _say(self, text: str) -> bool:
        if self.hub is None or self._channel is None:
            return False
        self._channel.post(text)
        return True

    def _claim(self) -> None:
        """Get the lock of the number that this tab remembers, and dial."""
        known = self._place.remembered(self._key) if self._kind in NUMBERED and not self._number else None
        number = int(known) if known is not None and known.isdecimal() and len(known) < 10 else 0
        if not number:
            self._dial()
            return

        def held() -> None:
            self._stop_timer()
            self._number = number
            self._dial()

        def without() -> None:
            self._stop_timer()
            self._release_number()
            self._place.remember(self._key, "")  # another tab has this number: do not claim it again
            self._dial()

        self._stop_timer = self._place.clock.call_later(limits.NUMBER_SECONDS, without)
        self._release_number = self._place.lock(self._names.number(number), held, without)

    def _numbered(self, number: int) -> None:
        """Note the number that the hub has assigned to this tab."""
        if number != self._number:
            self._release_number()
            self._number = number
            self._release_number = self._place.lock(self._names.number(number), _nothing, _nothing)
            self._place.remember(self._key, str(number))

    def _dial(self) -> None:
        port = self._port = wire.new_id()

        def held() -> None:
            if port == self._port:
                self._is_locked = True
                self._call()

        self._strikes = 0
        self._set_timer()
        self._channel = self._place.channel(self._names.port(port), lambda text: self._answered(port, text))
        self._releases.append(self._place.lock(self._names.port(port), held, _nothing))

    def _call(self) -> None:
        if self._directory is not None and self._is_locked:
            call = Connect(self._port, self._kind, self._place.url, self._number, self._place.window_name)
            self._directory.post(wire.connect(call))

    def _heard_in_directory(self, text: str) -> None:
        said = wire.read_directory(text)
        if not isinstance(said, Hello):
            return
        if self.hub is None:
            self._call()
        elif said.hub != self.hub:
            self._lose()

    def _answered(self, port: str, text: str) -> None:
        said = wire.read_line(text)
        if port != self._port or self.hub is not None or isinstance(said, str) or said.get("type") != "open":
            return
        hub, number = said.get("hub"), said.get("number")
        if not is_name(hub) or self._channel is None:
            return
        self.hub = hub
        self._channel.close()
        self._channel = self._place.channel(self._names.line(hub, port), lambda text: self._heard(port, text))
        if type(number) is int:
            self._numbered(number)

        def gone() -> None:
            if port == self._port:
                self._lose()

        self._releases.append(self._place.lock(self._names.hub(hub), gone, _nothing, shared=True))
        self._strikes = 0
        self.control("ready")
        self.on_open()

    def _heard(self, port: str, text: str) -> None:
        if port != self._port:
            return
        self._strikes = 0
        said = wire.read_line(text)
        if isinstance(said, str):
            self.on_message(said)
        elif said.get("type") == "close":
            self._lose()
        elif said.get("type") not in (None, "pong"):
            self.on_control(said)

    def _set_timer(self) -> None:
        self._stop_timer = self._place.clock.call_later(limits.PING_SECONDS, self._ping)

    def _ping(self) -> None:
        self._set_timer()
        if self._strikes >= limits.PING_STRIKES:
            self._strikes = 0
            self.on_unresponsive()
            self._lose()
            return
        # Messages queued meanwhile arrive before the next ping, even if this page itself was slow.
        self._strikes += 1
        if not self.control("ping"):
            self._call()

    def _lose(self) -> None:
        if self.hub is None:
            return
        self._hang_up()
        self.on_lost()
        if self._directory is not None and self._channel is None:
            self._dial()

    def _hang_up(self) -> None:
        if self._channel is not None:
            self.control("close")
            self._channel.close()
        self._port, self.hub, self._channel, self._is_locked = "", None, None, False
        self._stop_timer()
        releases, self._releases = self._releases, []
        for release in reversed(releases):
            release()


def _nothing(*_: object) -> None:
    return
