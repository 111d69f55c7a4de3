"""A choice between several kinds of value in a form; and the choice of a widget for a value."""

from __future__ import annotations

from typing import Any

from inspector.forms.checks import fits
from inspector.forms.control import Maker, Trouble, Widget
from inspector.forms.controls import is_shown, make_control
from inspector.forms.fields import Field, initial
from inspector.forms.groups import Choices, place_of
from inspector.forms.json_values import MISSING
from inspector.forms.rows import ListGroup, ObjectGroup
from mcpframe import Element

MAX_ROWS = 200
"""The largest number of items or properties shown one by one."""


def make_widget(maker: Maker, field: Field, place: Element, title: str, value: Any) -> Widget:
    """Add a field to the page, filled with a value; as JSON if its own control cannot show the value."""
    parts = len(field.members) + len(field.choices) + len(field.options)
    if maker.left > parts and _holds(field, value):
        match field.kind:
            case "object":
                return ObjectGroup(maker, field, place, title, value)
            case "array":
                return ListGroup(maker, field, place, title, value)
            case "choices":
                return Choices(maker, field, place, title, value)
            case "union":
                return Union(maker, field, place, title, value)
    return make_control(maker, field, place, title, value)


def _holds(field: Field, value: Any) -> bool:
    """Return whether the group of a field can show a value."""
    if value is MISSING:
        return True
    match field.kind:
        case "object":
            return isinstance(value, dict) and len(value) <= MAX_ROWS + len(field.members)
        case "array":
            room = MAX_ROWS if field.more else len(field.members)
            return isinstance(value, list) and len(value) <= room
        case "choices":
            if not isinstance(value, list) or len(value) > len(field.choices):
                return False
            places = [place_of(field, each) for each in value]
            return None not in places and len({*places}) == len(places)
        case "union":
            return _option(field, value) is not None
    return False


def _option(field: Field, value: Any) -> int | None:
    """Return the option of a union for a value: the first that it fits, else the first that can show it."""
    for test in (fits, lambda option, value: _holds(option, value) or _is_close(option, value)):
        for at, option in enumerate(field.options):
            if test(option, value):
                return at
    return None


def _is_close(option: Field, value: Any) -> bool:
    return option.kind in ("text", "number", "integer", "boolean", "choice") and is_shown(option, value)


class Union(Widget):
    """One of several kinds of value: a list to choose the kind, and the widget of that kind."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, title)
        head = Field(kind="choice", schema={}, description=field.description, required=field.required)
        self.box = place.add("div", class_="union")
        self._inner: dict[int, tuple[Element, Widget]] = {}
        self.head = make_control(maker, head, self.box, self._head_title(), MISSING)
        self.select = self.head.input
        self.select.clear()
        if value is MISSING:
            self.chosen: int | None = None
        else:
            self.chosen = _option(field, value)
        if self.chosen is None or not field.required:
            self.select.add("option", "choose …" if field.required else "left out", value="")
        for at, option in enumerate(field.options):
            self.select.add("option", option.title, value=str(at))
        self.select.value = "" if self.chosen is None else str(self.chosen)
        if self.chosen is not None:
            self._make(self.chosen, value)
        self.select.on("change", self._choose)

    def _head_title(self) -> str:
        return f"Kind of {self.title}"

    def _is_null(self, at: int) -> bool:
        option = self.field.options[at]
        return option.kind == "choice" and len(option.choices) == 1 and option.choices[0].value is None

    def _make(self, at: int, value: Any) -> None:
        if self._is_null(at):
            return
        holder = self.box.add("div", class_="union-option")
        self._inner[at] = (holder, make_widget(self.maker, self.field.options[at], holder, self._title(at), value))

    def _title(self, at: int) -> str:
        return f"{self.title}: {self.field.options[at].title}"

    def _choose(self) -> None:
        self.chosen = int(self.select.value) if self.select.value else None
        if self.chosen is not None and self.chosen not in self._inner:
            self._make(self.chosen, initial(self.field.options[self.chosen]))
        for at, (holder, _) in self._inner.items():
            holder.hidden = at != self.chosen
        self.maker.changed()

    def _now(self) -> Widget | None:
        return self._inner[self.chosen][1] if self.chosen is not None and self.chosen in self._inner else None

    def draft(self) -> Any:
        """Return the current value of the chosen kind."""
        if self.chosen is None:
            return MISSING
        widget = self._now()
        return widget.draft() if widget else None

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the value of the chosen kind, and add its problems to the list."""
        widget = self._now()
        if widget:
            return widget.check(troubles)
        if self.chosen is not None:
            return None
        if self.field.required:
            troubles.append(Trouble(self, f"{self.title} is required: choose its kind."))
        return MISSING

    def tell(self, message: str) -> None:
        self.head.tell(message)

    def focus(self) -> None:
        """Move the keyboard focus to the list of kinds."""
        self.head.focus()

    def rename(self, title: str) -> None:
        self.title = title
        self.head.rename(self._head_title())
        for at, (_, widget) in self._inner.items():
            widget.rename(self._title(at))
