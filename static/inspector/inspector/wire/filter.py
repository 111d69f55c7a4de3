"""The filter of a wire log. Plain data."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from inspector.wire.entry import Entry
from inspector.wire.log import WireLog


@dataclass(frozen=True)
class Filter:
    """The conditions for a message to be shown.

    Attributes:
        text: a text in the message, ignoring case; empty for all.
        direction: `SENT` or `RECEIVED`; empty for both.
        kind: one of `KINDS`; empty for all.
        peer: one of `PEERS`; empty for all.
    """

    text: str = ""
    direction: str = ""
    kind: str = ""
    peer: str = ""

    def passes(self, entry: Entry) -> bool:
        """Return whether a message is shown."""
        if self.kind and entry.kind != self.kind:
            return False
        if self.direction and entry.direction != self.direction:
            return False
        if self.peer and entry.peer != self.peer:
            return False
        if not self.text:
            return True
        text = self.text.casefold()
        parts = (entry.title, entry.note, entry.origin, entry.refused, entry.text)
        return any(text in part.casefold() for part in parts if part)


class Selection:
    """The messages of a log that pass a filter, oldest first; updated incrementally.

    Attributes:
        entries: the messages, as of the last `refresh`.
        seen: the number of the last message that was checked.
    """

    def __init__(self, log: WireLog, chosen: Filter | None = None) -> None:
        self.filter = chosen or Filter()
        self.entries: deque[Entry] = deque()
        self._log = log
        self.seen = 0

    def choose(self, chosen: Filter) -> None:
        """Use another filter."""
        self.filter = chosen
        self.entries.clear()
        self.seen = 0

    def refresh(self) -> None:
        """Add the new messages of the log, and remove those dropped from it."""
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
