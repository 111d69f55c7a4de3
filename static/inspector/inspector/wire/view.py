"""The wire log in the page: a table of the newest messages, its filters, and the details of one message.

However long the log is, only the newest rows are in the page. They are rendered at most a few times a second, and never
for more than a fifth of the time, so that a flood of messages does not block the page.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from itertools import count, islice
from typing import Any, Final

from inspector.results.result import json_tree
from inspector.wire.entry import KINDS, PEERS, RECEIVED, SENT, Entry
from inspector.wire.filter import Filter, Selection
from inspector.wire.log import WireLog
from mcpframe import Element, Page, PageEvent
from mcpframe.wire import bare_body, dialect

ROWS: Final = 100
"""The number of messages shown at first, and with every "Show older"."""

_DIRECTIONS: Final = {SENT: "Sent", RECEIVED: "Received"}
_COLUMNS: Final = ("Time", "Direction", "Kind", "Message", "Size", "Took")
_SOONEST: Final = 0.1
"""The shortest time between two renderings, in seconds."""
_NOT_ASLEEP: Final = 0.25
"""Seconds between two checks whether the log is visible."""
_SHARE: Final = 4
"""The pause after a rendering, as a multiple of the time it took."""

_numbers = count(1)


class WireView:
    """The view of one log."""

    def __init__(self, page: Page, place: Element, log: WireLog, *, name: Callable[[], str] = lambda: "server") -> None:
        """Build the view.

        Args:
            name: returns the server's name, for the file name of an export.
        """
        self._page = page
        self._log = log
        self._name = name
        self._selection = Selection(log)
        self._limit = ROWS
        self._rows: OrderedDict[int, None] = OrderedDict()
        self._counted: dict[int, int] = {}
        self._anew = False
        self._paused = False
        self._timer: asyncio.Handle | None = None
        self._rest = _SOONEST
        self._shown: Entry | None = None
        self._box = place.add("div", class_="wire")
        self._build_bar()
        self._build_table()
        self._build_detail()
        log.observers.append(lambda entry, message: self._wake())
        self._render()

    # Building

    def _build_bar(self) -> None:
        bar = self._box.add("div", class_="insp-row insp-bar", role="group", aria_label="Messages to show")
        text = bar.add("label", "Filter").add(
            "input", type="search", spellcheck="false", placeholder="text in a message"
        )
        direction = self._select(bar, "Direction", {"": "Both", **_DIRECTIONS})
        kind = self._select(bar, "Kind", {"": "All", **KINDS})
        peer = self._select(bar, "With", {"": "All", **PEERS})
        buttons = bar.add("div", class_="insp-row")
        self._pause = buttons.add("button", "Pause", type="button", aria_pressed="false")
        clear = buttons.add("button", "Clear", type="button")
        export = buttons.add("button", "Export", type="button")
        self._status = self._box.add("p", class_="quiet wire-told")

        def choose() -> None:
            self._selection.choose(Filter(text.value, direction.value, kind.value, peer.value))
            self._limit = ROWS
            self._wake(anew=True)

        text.on("input", choose)
        direction.on("change", choose)
        kind.on("change", choose)
        peer.on("change", choose)
        self._pause.on("click", self._on_pause)
        clear.on("click", self._on_clear)
        export.on("click", self._on_export)

    def _select(self, bar: Element, label: str, options: dict[str, str]) -> Element:
        select = bar.add("label", label).add("select")
        for value, text in options.items():
            select.add("option", text, value=value)
        return select

    def _build_table(self) -> None:
        self._area = self._box.add("div", role="region", aria_label="Messages", tabindex="0", class_="wire-area")
        self._older = self._area.add("button", "Show older", type="button", class_="wire-older", hidden=True)
        table = self._area.add("table", class_="wire-table")
        table.add("caption", "Messages, the newest last", class_="insp-hidden")
        head = table.add("thead").add("tr")
        for column in _COLUMNS:
            head.add("th", column, scope="col")
        self._body = table.add("tbody")
        self._nothing = self._area.add("p", class_="quiet")
        row = self._page.js.createElement("tr")
        for _ in _COLUMNS:
            row.append(self._page.js.createElement("td"))
        button = self._page.js.createElement("button")
        button.type, button.className = "button", "wire-open"
        note = self._page.js.createElement("span")
        note.className = "wire-note"
        row.children[3].append(button, note)
        self._template = row
        self._body.on("click", self._on_row)
        self._older.on("click", self._on_older)

    def _build_detail(self) -> None:
        name = f"wire-detail-{next(_numbers)}"
        self._detail = self._box.add("section", aria_labelledby=name, class_="wire-detail", hidden=True)
        head = self._detail.add("div", class_="insp-row")
        self._title = head.add("h3", id=name, tabindex="-1")
        self._partner = head.add("button", type="button", class_="small")
        close = head.add("button", "Close", type="button", class_="small")
        self._facts = self._detail.add("dl", class_="insp-facts")
        self._value = self._detail.add("div")
        self._partner.on("click", self._on_partner)
        close.on("click", self._close)

    # Rendering

    def _wake(self, *, anew: bool = False) -> None:
        """Render soon: for a new message, or with `anew` for another selection."""
        self._anew = self._anew or anew
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._rest, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if not self._box.js.isConnected:
            return
        if not self._box.js.getClientRects().length:
            self._rest = _NOT_ASLEEP
            self._wake()
            return
        begin = time.perf_counter()
        if self._paused and not self._anew:
            self._tell()
        else:
            self._render()
        self._rest = max(_SOONEST, _SHARE * (time.perf_counter() - begin))

    def _render(self) -> None:
        entries = self._selection.entries
        self._selection.refresh()
        first = max(0, len(entries) - self._limit)
        wanted = list(islice(entries, first, None))
        area = self._area.js
        follows = area.scrollHeight - area.scrollTop - area.clientHeight < 24
        newest = 0 if self._anew else next(reversed(self._rows), 0)
        new = [entry for entry in wanted if entry.number > newest]
        had_focus = self._body.js.contains(self._page.js.activeElement)
        if len(new) == len(wanted):
            self._rows.clear()
            self._counted.clear()
        made = self._page.js.createDocumentFragment()
        for entry in new:
            made.append(self._row(entry))
        if self._rows:
            self._forget_rows_before(wanted[0].number)
            self._body.js.append(made)
        else:
            self._body.js.replaceChildren(made)
        if had_focus and not self._body.js.contains(self._page.js.activeElement):
            self._area.focus()
        self._rows.update((entry.number, None) for entry in new)
        self._update_counts(wanted)
        self._older.hidden = first == 0
        self._older.text = f"Show older ({first:,} more)"
        self._anew = False
        self._tell()
        if follows and new:
            area.scrollTop = area.scrollHeight

    def _row(self, entry: Entry) -> Any:
        row = self._template.cloneNode(True)
        cells = row.children
        row.className = f"wire-{entry.kind}"
        cells[0].textContent = _clock_time(entry.time)
        cells[1].textContent = _way(entry)
        cells[2].textContent = entry.kind
        button, note = cells[3].children
        button.textContent = entry.title
        button.value = str(entry.number)
        note.textContent = entry.note or entry.refused or ""
        cells[4].textContent = _size(entry) if entry.text is not None or entry.size else ""
        cells[5].textContent = "" if entry.took is None else _milliseconds(entry.took)
        if entry.text is None and not entry.size:
            note.textContent = _unread(entry)
            self._counted[entry.number] = entry.count
        return row

    def _forget_rows_before(self, number: int) -> None:
        while self._rows and next(iter(self._rows)) < number:
            gone, _ = self._rows.popitem(last=False)
            self._counted.pop(gone, None)
            self._body.js.firstElementChild.remove()

    def _update_counts(self, entries: list[Entry]) -> None:
        for entry in entries if self._counted else ():
            if self._counted.get(entry.number, entry.count) != entry.count:
                self._counted[entry.number] = entry.count
                self._body.element(f'button[value="{entry.number}"] + span').text = _unread(entry)

    def _tell(self) -> None:
        log, selection = self._log, self._selection
        passing = len(selection.entries)
        status = f"{len(log):,} message{'' if len(log) == 1 else 's'}"
        if selection.filter != Filter():
            status = f"{passing:,} of {status}"
        if log.dropped:
            status += f"; {log.dropped:,} older ones were dropped"
        if self._paused:
            status += f". Paused: {max(0, log.last - selection.seen):,} since then"
        self._status.text = status
        self._nothing.hidden = passing > 0
        self._nothing.text = "No message passes the filter." if len(log) else "Nothing has crossed the wire yet."

    # Actions of the user

    def _on_pause(self) -> None:
        self._paused = not self._paused
        self._pause.set("aria-pressed", "true" if self._paused else "false")
        if self._paused:
            self._tell()
        else:
            self._render()

    def _on_clear(self) -> None:
        self._log.clear()
        self._limit = ROWS
        self._anew = True
        self._render()
        self._close(focus=False)

    def _on_export(self) -> None:
        self._selection.refresh()
        name = re.sub(r"[^\w.-]+", "-", self._name()).strip("-.") or "server"
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        text = self._log.export(self._selection.entries)
        self._page.download(f"wire-log-{name}-{stamp}.json", text, "application/json")

    def _on_older(self) -> None:
        last = next(iter(self._rows), 0)
        self._limit += ROWS
        self._anew = True
        self._render()
        button = self._body.js.querySelector(f'button[value="{last}"]')
        if button:
            button.focus()

    def _on_row(self, event: PageEvent) -> None:
        button = event.target.js.closest("button.wire-open") if event.target else None
        entry = self._log.get(int(button.value)) if button else None
        if entry is not None:
            self._show(entry)

    def _on_partner(self) -> None:
        partner = self._log.get(self._shown.partner) if self._shown and self._shown.partner else None
        if partner is not None:
            self._show(partner)

    # One message

    def _show(self, entry: Entry) -> None:
        self._shown = entry
        self._title.text = f"{_DIRECTIONS[entry.direction]}: {entry.title}"
        self._partner.text = "Show its answer" if entry.kind == "request" else "Show its request"
        self._partner.hidden = entry.partner is None or self._log.get(entry.partner) is None
        self._facts.clear()
        for name, value in self._facts_of(entry).items():
            self._facts.add("dt", name)
            self._facts.add("dd", value)
        self._value.clear()
        if entry.text is not None:
            try:
                value = entry.value
                body = bare_body(value)
                json_tree(self._page, self._value, value if body is None else body, label="The message")
            except ValueError:
                self._value.add("pre", entry.text[:10_000], tabindex="0")
        self._detail.hidden = False
        self._title.focus()

    def _facts_of(self, entry: Entry) -> dict[str, str]:
        facts = {"Time": datetime.fromtimestamp(entry.time).astimezone().isoformat(" ", "milliseconds")}
        if entry.dialect:
            facts["Dialect"] = dialect(entry.dialect).title
        facts["To" if entry.direction == SENT else "From"] = entry.origin
        if entry.refused is not None:
            facts["Refused"] = entry.refused
        if entry.text is None and not entry.size:
            facts["Came"] = f"{entry.count:,} time{'' if entry.count == 1 else 's'}. Nothing of it was read."
        else:
            facts["Size"] = f"{entry.size:,} bytes" + ("" if entry.text is not None else ", too many to be kept here")
        if entry.took is not None:
            facts["Took"] = _milliseconds(entry.took)
        elif entry.kind == "request" and entry.partner is None:
            facts["Answer"] = "None yet"
        return facts

    def _close(self, *, focus: bool = True) -> None:
        self._detail.hidden = True
        shown, self._shown = self._shown, None
        self._value.clear()
        if not focus:
            return
        button = self._body.js.querySelector(f'button[value="{shown.number if shown else 0}"]')
        (button if button else self._area.js).focus()


def _way(entry: Entry) -> str:
    way = f"{entry.direction} {_DIRECTIONS[entry.direction].lower()}"
    return way if entry.peer == "server" else f"{way}, {PEERS[entry.peer].lower()}"


def _clock_time(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S.%f")[:-3]


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


def _size(entry: Entry) -> str:
    if entry.size < 10_000:
        return f"{entry.size:,} B"
    return f"{entry.size / 1000:,.0f} kB" if entry.size < 10_000_000 else f"{entry.size / 1_000_000:,.1f} MB"


def _unread(entry: Entry) -> str:
    times = f", {entry.count:,} times" if entry.count > 1 else ""
    return f"{entry.origin}{times}: {entry.refused}"
