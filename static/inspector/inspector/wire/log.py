"""The newest messages on the wire, with requests matched to their answers. Plain data.

    log = WireLog()
    outer = OuterFrame(url, on_wire=log.record)

The log is bounded in messages and in bytes; it counts the messages that it drops.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from inspector.wire.entry import RECEIVED, SENT, Entry, describe, shown
from mcpframe.wire import Wire

MOST_ENTRIES: Final = 5000
MOST_BYTES: Final = 32 * 1024 * 1024

Observer = Callable[[Entry, Any], None]


class WireLog:
    """The newest messages of one server, over all its sessions.

    Attributes:
        dropped: the number of messages dropped because of the limits.
        now: the clock, in seconds since the epoch.
        observers: called with every new entry, and with its parsed value; None if it was rejected, or is long.
    """

    def __init__(
        self,
        *,
        most_entries: int = MOST_ENTRIES,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Create an empty log.

        Args:
            most_entries: the number of messages kept.
            most_bytes: the limit of their bytes, in UTF-8. The text of a message longer than half of that is not kept.
            clock: returns seconds since the epoch; by default a monotonic one.
        """
        self.dropped = 0
        self.observers: list[Observer] = []
        self.now = clock or _steady_clock()
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._bytes = 0
        self._last = 0
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._asked: dict[tuple[str, str, str | None], Entry] = {}
        self._strangers: dict[tuple[str, str, str | None], Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __reversed__(self) -> Iterator[Entry]:
        return reversed(self._entries.values())

    def get(self, number: int) -> Entry | None:
        """Return an entry; None if it does not exist, or was dropped."""
        return self._entries.get(number)

    @property
    def last(self) -> int:
        """The number of the newest entry ever added; 0 at the beginning."""
        return self._last

    def record(self, wire: Wire, peer: str = "server", spoken: str = "") -> None:
        """Add a message: for `OuterFrame(on_wire=...)`, or with another peer for a view's `AppHost(on_wire=...)`.

        Args:
            peer: the other end: one of `PEERS`.
            spoken: the dialect of its session, as for `read_wire`.
        """
        now = self.now()
        direction = SENT if wire.direction == "sent" else RECEIVED
        if wire.text is None:
            self._record_unread(wire, direction, now, peer)
            return
        text = wire.text
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        self._last += 1
        entry = Entry(self._last, now, direction, shown(wire.origin), "refused", "", "", text, size, wire.refused)
        entry.peer = peer
        message = describe(entry, text, spoken)
        if size > self._most_bytes // 2:
            entry.text = None
        if wire.refused is None:
            self._pair(entry)
        else:
            entry.kind, message = "refused", None
        self._keep(entry)
        self._tell(entry, message)

    def clear(self) -> None:
        self._entries.clear()
        self._asked.clear()
        self._strangers.clear()
        self._bytes = self.dropped = 0

    def export(self, entries: Iterable[Entry] | None = None) -> str:
        """Return entries as a JSON document with one line for each.

        Args:
            entries: the entries to return; by default all.
        """
        lines = []
        for entry in self if entries is None else entries:
            fields: dict[str, Any] = {
                "number": entry.number,
                "time": datetime.fromtimestamp(entry.time, UTC).isoformat(timespec="milliseconds"),
                "direction": "sent" if entry.direction == SENT else "received",
                "origin": entry.origin,
                "kind": entry.kind,
                "size": entry.size,
            }
            if entry.peer != "server":
                fields |= {"peer": entry.peer, "dialect": entry.dialect}
            if entry.refused is not None:
                fields["refused"] = entry.refused
            if entry.count > 1:
                fields["count"] = entry.count
            if entry.took is not None:
                fields["answers"] = entry.partner
                fields["milliseconds"] = round(entry.took * 1000, 1)
            # As text: it may be nested too deeply for the reader's parser.
            fields["text"] = entry.text
            lines.append(json.dumps(fields, ensure_ascii=True))
        head = json.dumps({"format": "mcpframe wire log 1", "dropped": self.dropped})[:-1]
        return f'{head}, "messages": [\n' + ",\n".join(lines) + "\n]}\n"

    def _record_unread(self, wire: Wire, direction: str, now: float, peer: str) -> None:
        origin = shown(wire.origin)
        entry = self._strangers.get((peer, origin, wire.refused))
        if entry is not None:
            entry.count += 1
        else:
            self._last += 1
            entry = Entry(self._last, now, direction, origin, "refused", "Unread", refused=wire.refused, peer=peer)
            self._strangers[peer, origin, wire.refused] = entry
            self._keep(entry)
        self._tell(entry, None)

    def _tell(self, entry: Entry, message: Any) -> None:
        for observe in self.observers:
            observe(entry, message)

    def _pair(self, entry: Entry) -> None:
        if entry.kind == "handshake":
            # Another session, whose ids start again.
            self._asked = {key: asked for key, asked in self._asked.items() if asked.peer != entry.peer}
        elif entry.kind == "request":
            self._asked[entry.peer, entry.direction, entry.id] = entry
        elif entry.kind in ("response", "error"):
            asked = self._asked.pop((entry.peer, RECEIVED if entry.direction == SENT else SENT, entry.id), None)
            if asked is not None:
                entry.partner, asked.partner = asked.number, entry.number
                entry.took = entry.time - asked.time
                entry.title = asked.title
                entry.note = entry.note or asked.note

    def _keep(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        self._bytes += _weight(entry)
        while len(self._entries) > self._most_entries or self._bytes > self._most_bytes:
            _, old = self._entries.popitem(last=False)
            self._bytes -= _weight(old)
            self.dropped += old.count
            stranger, asked = (old.peer, old.origin, old.refused), (old.peer, old.direction, old.id)
            if self._strangers.get(stranger) is old:
                del self._strangers[stranger]
            if self._asked.get(asked) is old:
                del self._asked[asked]


def _steady_clock() -> Callable[[], float]:
    begin = time.time() - time.perf_counter()
    return lambda: begin + time.perf_counter()


def _weight(entry: Entry) -> int:
    return entry.size if entry.text is not None else 0
