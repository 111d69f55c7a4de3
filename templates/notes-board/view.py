"""The board's page: shows the notes, and lets the person write, move and remove them."""

from board import COLUMNS, Board, Column, Note
from mcpframe import Element, Page, PageEvent

STEPS = {"ArrowLeft": -1, "ArrowRight": 1}


class View:
    """Everything on the page."""

    def __init__(self, page: Page, board: Board) -> None:
        """Use a page that shows `board.html`."""
        self._page = page
        self._board = board
        self._seen = {note.id: note for note in board.notes}
        columns = page.element("#columns")
        for index, name in enumerate(COLUMNS):
            column = columns.add("section", class_="column", aria_labelledby=f"column-{index}", data_column=str(index))
            head = column.add("h2")
            head.add("span", name, id=f"column-{index}")
            head.add("span", class_="badge")
            column.add("ul", class_="plain", aria_label=name)
        columns.on("click", self._on_click)
        columns.on("keydown", self._on_key)
        page.element("#new").on("submit", self._on_new)
        self.show()

    def show(self) -> None:
        """Update the notes. The keyboard focus stays on its note."""
        focused = self._page.js.activeElement
        kept = focused and focused.id
        for index, name in enumerate(COLUMNS):
            place = self._page.element(f'[data-column="{index}"] ul')
            place.clear()
            notes = list(self._board.column(name))
            for note in notes:
                self._add(place, note, index)
            self._page.element(f'[data-column="{index}"] .badge').text = str(len(notes))
        self._seen = {note.id: note for note in self._board.notes}
        self._page.element("#empty").hidden = bool(self._board.notes)
        self._focus(kept)

    def tell(self, text: str) -> None:
        """Show what has happened; screen readers say it."""
        self._page.element("#told").text = text

    def _add(self, place: Element, note: Note, index: int) -> None:
        is_new = self._seen.get(note.id) != note
        item = place.add("li", class_="note new" if is_new else "note", tabindex="0", id=f"note-{note.id}")
        item.set("data-note", str(note.id))
        item.add("p", note.text)
        foot = item.add("div", class_="foot")
        foot.add("span", f"#{note.id}", class_="quiet")
        for sign, step, where in (("\u2190", -1, index - 1), ("\u2192", 1, index + 1)):
            if 0 <= where < len(COLUMNS):
                label = f"Move note {note.id} to {COLUMNS[where]}"
                self._button(foot, note, sign, label, f"{'back' if step < 0 else 'on'}", data_column=str(where))
        self._button(foot, note, "\u2715", f"Remove note {note.id}", "remove")

    def _button(self, place: Element, note: Note, sign: str, label: str, name: str, **data: str) -> None:
        place.add(
            "button",
            sign,
            type="button",
            id=f"note-{note.id}-{name}",
            aria_label=label,
            data_note=str(note.id),
            data_do=name,
            **data,
        )

    async def _on_new(self) -> None:
        field = self._page.element("#text")
        try:
            await self._board.add(field.value)
        except ValueError as error:
            self.tell(str(error))
            return
        field.value = ""
        self.tell("")

    async def _on_click(self, event: PageEvent) -> None:
        if event.target is None or not (what := event.target.get("data-do")):
            return
        number = int(event.target.get("data-note") or 0)
        if what == "remove":
            await self._remove(number)
        else:
            await self._move(number, COLUMNS[int(event.target.get("data-column") or 0)])

    async def _on_key(self, event: PageEvent) -> None:
        """Move the note that has the focus by arrow keys, and remove it with Delete."""
        number = int((event.target.get("data-note") if event.target else None) or 0)
        note = next((each for each in self._board.notes if each.id == number), None)
        key = str(event.js.key)
        if note is None or event.js.ctrlKey or event.js.altKey or event.js.metaKey:
            return
        if key in ("Delete", "Backspace"):
            await self._remove(number)
        elif key in STEPS and 0 <= (where := COLUMNS.index(note.column) + STEPS[key]) < len(COLUMNS):
            await self._move(number, COLUMNS[where])

    async def _move(self, number: int, column: Column) -> None:
        try:
            await self._board.move(number, column)
        except ValueError as error:  # another tab has removed it
            self.tell(str(error))
            await self._board.load()
            return
        self._focus(f"note-{number}")
        self.tell(f"Note {number} is in {column} now.")

    async def _remove(self, number: int) -> None:
        try:
            await self._board.remove(number)
        except ValueError:  # another tab has removed it
            await self._board.load()
        self._page.element("#text").focus()
        self.tell(f"Note {number} is removed.")

    def _focus(self, id_: str) -> None:
        found = id_ and self._page.js.getElementById(id_)
        if found:
            found.focus()
