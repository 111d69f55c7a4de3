"""What crossed the wire: the newest messages, what each of them is, and which answers which. Plain data.

    log = WireLog()
    outer = OuterFrame(url, on_wire=log.record)

The log is bounded in messages and in bytes; what it drops, it counts.
"""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mcpframe.frame import jsonrpc
from mcpframe.frame.errors import MessageError
from mcpframe.frame.events import Wire
from mcpframe.frame.payload import check_text

SENT: Final = "→"
RECEIVED: Final = "←"

KINDS: Final = {
    "request": "Requests",
    "response": "Responses",
    "error": "Errors",
    "notification": "Notifications",
    "handshake": "Handshake and setup",
    "refused": "Refused",
}
"""The kinds of messages, and what a person calls them."""

MOST_ENTRIES: Final = 5000
MOST_BYTES: Final = 32 * 1024 * 1024

_PARSED: Final = 256 * 1024
"""Characters of the longest text that is parsed to be filed; of a longer one, its two ends are looked at."""

_MOST_NESTING: Final = 1000
_ENVELOPE: Final = '{"type":"MCP_MESSAGE","payload":'
_METHOD: Final = re.compile(r'"method":"([^"\\]{1,200})"')
_ODD: Final = re.compile(r"[\ud800-\udfff]")


@dataclass(slots=True)
class Entry:
    """One message in the log.

    Attributes:
        number: counts the messages, from 1.
        time: when it passed, in seconds since the epoch.
        direction: `SENT` or `RECEIVED`.
        origin: where it came from or went to.
        kind: one of `KINDS`.
        title: its method, or that of the request it answers; the type of a handshake.
        note: what else is good to see at a glance: the tool, the resource, the message of an error.
        text: its JSON text; None where there is none, or it is too long to be kept.
        size: its bytes in UTF-8.
        refused: why it was refused.
        id: of a request or an answer, its id as JSON.
        partner: for an answer the number of its request, for a request that of its answer.
        took: for an answer, the seconds since its request.
        count: how often it came; of what is refused unread, all of an origin is one entry.
    """

    number: int
    time: float
    direction: str
    origin: str
    kind: str
    title: str
    note: str = ""
    text: str | None = None
    size: int = 0
    refused: str | None = None
    id: str = ""
    partner: int | None = None
    took: float | None = None
    count: int = 1

    @property
    def value(self) -> Any:
        """What its text says. Raises ValueError where there is none, or it is nested too deeply to be looked at."""
        if self.text is None:
            raise ValueError("there is no text")
        return parse(self.text)


Observer = Callable[[Entry, Any], None]


class WireLog:
    """The newest messages of one server, over all its sessions.

    Attributes:
        dropped: how many messages were dropped, as there is no room for all of them.
        now: the clock, in seconds since the epoch.
        observers: called with every message as it is filed, and with its value; None where it was refused, or is long.
    """

    def __init__(
        self,
        *,
        most_entries: int = MOST_ENTRIES,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Make an empty log.

        Args:
            most_entries: how many messages it keeps.
            most_bytes: how many bytes of them, in UTF-8. Of a message that is longer than half of that, only what it
                is.
            clock: gives seconds since the epoch; by default one that never goes back.
        """
        self.dropped = 0
        self.observers: list[Observer] = []
        self.now = clock or _steady_clock()
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._bytes = 0
        self._last = 0
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._asked: dict[tuple[str, str | None], Entry] = {}
        self._strangers: dict[tuple[str, str | None], Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __reversed__(self) -> Iterator[Entry]:
        return reversed(self._entries.values())

    def get(self, number: int) -> Entry | None:
        """Give an entry; None where it is not there, or not any more."""
        return self._entries.get(number)

    @property
    def last(self) -> int:
        """The number of the last entry there ever was; 0 at the beginning."""
        return self._last

    def record(self, wire: Wire) -> None:
        """File a message: for `OuterFrame(on_wire=...)`."""
        now = self.now()
        direction = SENT if wire.direction == "sent" else RECEIVED
        if wire.text is None:
            self._record_unread(wire, direction, now)
            return
        text = wire.text
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        message, payload = _look_at(text)
        self._last += 1
        entry = Entry(self._last, now, direction, shown(wire.origin), "refused", "", "", text, size, wire.refused)
        _describe(entry, message, payload)
        if size > self._most_bytes // 2:
            entry.text = None
        if wire.refused is None:
            self._pair(entry)
        else:
            entry.kind, message = "refused", None
        self._keep(entry)
        self._tell(entry, message)

    def clear(self) -> None:
        """Forget all of it."""
        self._entries.clear()
        self._asked.clear()
        self._strangers.clear()
        self._bytes = self.dropped = 0

    def export(self, entries: Iterable[Entry] | None = None) -> str:
        """Give entries as a JSON document with one line for each.

        Args:
            entries: those wanted; by default all.
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
            if entry.refused is not None:
                fields["refused"] = entry.refused
            if entry.count > 1:
                fields["count"] = entry.count
            if entry.took is not None:
                fields["answers"] = entry.partner
                fields["milliseconds"] = round(entry.took * 1000, 1)
            # As text: it may be nested deeper than whoever reads this can read.
            fields["text"] = entry.text
            lines.append(json.dumps(fields, ensure_ascii=True))
        head = json.dumps({"format": "mcpframe wire log 1", "dropped": self.dropped})[:-1]
        return f'{head}, "messages": [\n' + ",\n".join(lines) + "\n]}\n"

    def _record_unread(self, wire: Wire, direction: str, now: float) -> None:
        origin = shown(wire.origin)
        entry = self._strangers.get((origin, wire.refused))
        if entry is not None:
            entry.count += 1
        else:
            self._last += 1
            entry = Entry(self._last, now, direction, origin, "refused", "Unread", refused=wire.refused)
            self._strangers[origin, wire.refused] = entry
            self._keep(entry)
        self._tell(entry, None)

    def _tell(self, entry: Entry, message: Any) -> None:
        for observe in self.observers:
            observe(entry, message)

    def _pair(self, entry: Entry) -> None:
        if entry.kind == "handshake":
            self._asked.clear()  # another session, whose ids begin anew
        elif entry.kind == "request":
            self._asked[entry.direction, entry.id] = entry
        elif entry.kind in ("response", "error"):
            asked = self._asked.pop((RECEIVED if entry.direction == SENT else SENT, entry.id), None)
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
            for index, key in ((self._strangers, (old.origin, old.refused)), (self._asked, (old.direction, old.id))):
                if index.get(key) is old:
                    del index[key]


@dataclass(frozen=True)
class Filter:
    """Which messages are wanted.

    Attributes:
        text: is somewhere in them, whatever its case; empty for any.
        direction: `SENT` or `RECEIVED`; empty for both.
        kind: one of `KINDS`; empty for all.
    """

    text: str = ""
    direction: str = ""
    kind: str = ""

    def passes(self, entry: Entry) -> bool:
        """Whether a message is wanted."""
        if self.kind and entry.kind != self.kind:
            return False
        if self.direction and entry.direction != self.direction:
            return False
        if not self.text:
            return True
        wanted = self.text.casefold()
        told = (entry.title, entry.note, entry.origin, entry.refused, entry.text)
        return any(wanted in part.casefold() for part in told if part)


class Selection:
    """The messages of a log that pass a filter, oldest first; kept up to date at little cost.

    Attributes:
        filter: the filter.
        entries: the messages, as of the last `refresh`.
        seen: the number of the last message that was looked at.
    """

    def __init__(self, log: WireLog, wanted: Filter | None = None) -> None:
        """Select from this log."""
        self.filter = wanted or Filter()
        self.entries: deque[Entry] = deque()
        self._log = log
        self.seen = 0

    def choose(self, wanted: Filter) -> None:
        """Use another filter."""
        self.filter = wanted
        self.entries.clear()
        self.seen = 0

    def refresh(self) -> None:
        """Take in what is new in the log, and let go of what it has dropped."""
        log = self._log
        while self.entries and log.get(self.entries[0].number) is not self.entries[0]:
            self.entries.popleft()
        new = []
        for entry in reversed(log):
            if entry.number <= self.seen:
                break
            new.append(entry)
        self.seen = log.last
        self.entries.extend(entry for entry in reversed(new) if self.filter.passes(entry))


def parse(text: str) -> Any:
    """Give what a JSON text says.

    Raises:
        ValueError: where it is not JSON, or nested so deeply that to read it would end Python in a page.
    """
    try:
        check_text(text, max_bytes=len(text) * 4, max_nesting=_MOST_NESTING)
        return json.loads(text)
    except (MessageError, RecursionError) as error:
        raise ValueError(str(error)) from None


def shown(text: str) -> str:
    """Give a text as it can be put into a page: lone surrogates can't be, and nobody reads more than so much."""
    cut = text if len(text) <= 300 else text[:299] + "…"
    return _ODD.sub("\N{REPLACEMENT CHARACTER}", cut)


def _steady_clock() -> Callable[[], float]:
    begin = time.time() - time.perf_counter()
    return lambda: begin + time.perf_counter()


def _weight(entry: Entry) -> int:
    return entry.size if entry.text is not None else 0


def _look_at(text: str) -> tuple[Any, dict[str, Any] | None]:
    """Give what a text says, and the MCP message in it; of a long one, if it can be, only the outline of that."""
    if len(text) > _PARSED and (payload := _outline(text)):
        return None, payload
    try:
        message = parse(text)
    except ValueError:
        return None, None
    payload = message.get("payload") if isinstance(message, dict) and message.get("type") == "MCP_MESSAGE" else None
    return message, payload if isinstance(payload, dict) else None


def _outline(text: str) -> dict[str, Any] | None:
    if not text.startswith(_ENVELOPE):
        return None
    inside = text[len(_ENVELOPE) : -1]
    method = _METHOD.search(inside[:256])
    outline = jsonrpc.outline(inside)
    if outline is None:
        return None
    kind, id_ = outline
    if kind == "response":
        return {"id": id_}
    return {"id": id_, "method": method[1]} if method else None


def _describe(entry: Entry, message: Any, payload: dict[str, Any] | None) -> None:
    """Say what a message is."""
    if payload is None:
        kind = message.get("type") if isinstance(message, dict) else None
        entry.kind, entry.title = "handshake", shown(kind) if isinstance(kind, str) else "Unknown"
        return
    if isinstance(payload.get("id"), str | int):
        entry.id = json.dumps(payload["id"])
    method = payload.get("method")
    if isinstance(method, str):
        entry.kind, entry.title = "request" if entry.id else "notification", shown(method)
        entry.note = _note(payload.get("params"))
    elif isinstance(payload.get("error"), dict):
        error = payload["error"]
        entry.kind, entry.title = "error", "Error"
        entry.note = shown(f"{error.get('code')}: {error.get('message')}")
    else:
        entry.kind, entry.title = "response", "Response"


def _note(params: Any) -> str:
    if not isinstance(params, dict):
        return ""
    for name in ("name", "uri", "level", "progress", "reason"):
        value = params.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return shown(str(value))
    return ""
