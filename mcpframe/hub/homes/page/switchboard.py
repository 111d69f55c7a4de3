"""The ports of a hub's tabs, in the leading tab.

A port is open from its `ready` until its `close`, the release of its lock, or the end of the switchboard. Its tab has a
number, unique in the hub under all leaders: the last number is noted for all tabs, and a tab sends its own to the next
hub (`dialing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.hub.core.names import origin_of
from mcpframe.hub.homes.page import wire
from mcpframe.hub.homes.page.tab_browser import TabBrowser, TabChannel
from mcpframe.hub.homes.page.wire import NUMBERED, ChannelNames, Connect, Hello

_LAST = "last-number"


class PagePort:
    """The hub's end of a port; a port of tools is a `transport.TabPort`.

    Attributes:
        kind: Its purpose.
        tab: The number of its tab; 0 if it needs none.
        url: The address of its page, which is of this origin: a channel reaches no other.
        on_message: Called with each message, as text.
        on_control: Called with each control message.
        on_close: Called once, when it has ended.
    """

    def __init__(self, call: Connect, tab: int, url: str, line: TabChannel, end: Callable[[PagePort], None]) -> None:
        self.id = call.port
        self.kind = call.kind
        self.tab = tab
        self.url = url
        self.window_name = call.window_name
        self.on_message: Callable[[str], None] = _nothing
        self.on_control: Callable[[Mapping[str, Any]], None] = _nothing
        self.on_close: Callable[[], None] = _nothing
        self._line = line
        self._end = end

    def post(self, text: str) -> None:
        self._line.post(wire.message(text))

    def control(self, kind: str, **more: Any) -> None:
        """Post a control message."""
        self._line.post(wire.control(kind, **more))

    def close(self) -> None:
        self._end(self)


class Switchboard:
    """The ports of all tabs.

    Args:
        accept: Called with each port that opens.
        on_rival: Called when another tab announces that it leads.
    """

    def __init__(
        self,
        place: TabBrowser,
        names: ChannelNames,
        accept: Callable[[PagePort], None],
        on_rival: Callable[[], None] = lambda: None,
    ) -> None:
        self._place = place
        self._names = names
        self._accept = accept
        self._on_rival = on_rival
        self._hub = ""
        self._directory: TabChannel | None = None
        self._ends: dict[str, Callable[[], None]] = {}
        """The functions that end each port, by its id, even before it is ready."""
        self._numbers: dict[int, str] = {}
        """The ids of ports by the numbers of their tabs."""
        self._given = 0
        """The last number assigned here."""

    def __len__(self) -> int:
        return len(self._ends)

    def open(self, hub: str) -> None:
        """Accept ports.

        Args:
            hub: The id of the hub.
        """
        self._hub = hub
        self._directory = self._place.channel(self._names.directory, self._heard)
        self._directory.post(wire.hello(hub))

    def close(self) -> None:
        """Close all ports, and accept no more."""
        if self._directory is None:
            return
        self._directory.close()
        self._directory = None
        for end in list(self._ends.values()):
            end()

    def _heard(self, text: str) -> None:
        said = wire.read_directory(text)
        if isinstance(said, Connect):
            self._called(said)
        elif isinstance(said, Hello) and said.hub != self._hub:
            self._on_rival()

    def _called(self, call: Connect) -> None:
        if call.port in self._ends:
            return
        number = 0
        if call.kind in NUMBERED:
            number = self._last() + 1 if call.number is None or call.number in self._numbers else call.number
        self._answer(call, number)

    def _last(self) -> int:
        """Return the last number assigned, here or by another tab: a tab that hung may have led before."""
        noted = self._place.noted(self._names.key(_LAST))
        return max(self._given, int(noted) if noted is not None and noted.isdecimal() and len(noted) < 10 else 0)

    def _answer(self, call: Connect, number: int) -> None:
        names, place = self._names, self._place
        if number > self._last():
            self._given = number
            place.note(names.key(_LAST), str(number))
        if number:
            self._numbers[number] = call.port
        origin = origin_of(place.url)
        url = call.url if origin_of(call.url) == origin else place.url
        is_ready = False
        port: PagePort

        def heard(text: str) -> None:
            nonlocal is_ready
            said = wire.read_line(text)
            kind = None if isinstance(said, str) else said.get("type")
            if kind == "close":
                end()
            elif kind == "ready":
                if not is_ready:
                    is_ready = True
                    answers.close()
                    self._accept(port)
            elif not is_ready:
                return
            elif isinstance(said, str):
                port.on_message(said)
            elif kind == "ping":
                port.control("pong")
            else:
                port.on_control(said)

        def end() -> None:
            if self._ends.get(call.port) is not end:
                return
            del self._ends[call.port]
            if number and self._numbers.get(number) == call.port:
                del self._numbers[number]
            port.control("close")
            line.close()
            answers.close()
            unlock()
            if is_ready:
                port.on_close()

        self._ends[call.port] = end
        line = place.channel(names.line(self._hub, call.port), heard)
        port = PagePort(call, number, url, line, lambda _: end())
        answers = place.channel(names.port(call.port), _nothing)
        unlock = place.lock(names.port(call.port), end, _nothing)
        answers.post(wire.control("open", hub=self._hub, number=number or None))


def _nothing(*_: object) -> None:
    return
