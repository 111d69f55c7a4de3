"""The parts of a form that hold others: objects, lists, unions, and several of a few choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from checks import MISSING, fits, problem, same
from controls import JsonText, Maker, Trouble, Widget, is_shown, make_control
from mcpframe.frame.ui import Element
from schema import Field, initial

MAX_ROWS = 200
"""How many items or properties are still shown one by one."""


def make(maker: Maker, field: Field, place: Element, title: str, value: Any) -> Widget:
    """Put a field into the page, filled with a value; as JSON where its own control can't show that."""
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
    """Whether the group of a field can show a value."""
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
            places = [_place(field, each) for each in value]
            return None not in places and len({*places}) == len(places)
        case "union":
            return _option(field, value) is not None
    return False


def _place(field: Field, value: Any) -> int | None:
    return next((at for at, choice in enumerate(field.choices) if same(value, choice.value)), None)


def _option(field: Field, value: Any) -> int | None:
    """The option of a union that a value is shown as: the first that it fits, else the first that can show it."""
    for test in (fits, lambda option, value: _holds(option, value) or _is_close(option, value)):
        for at, option in enumerate(field.options):
            if test(option, value):
                return at
    return None


def _is_close(option: Field, value: Any) -> bool:
    return option.kind in ("text", "number", "integer", "boolean", "choice") and is_shown(option, value)


class Group(Widget):
    """A fieldset with a legend; what is in it may be missing as a whole."""

    noun = ""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        """Put the frame of it into the page; the subclass fills `self.body`."""
        super().__init__(maker, field, title)
        maker.left -= 1
        self.id = maker.new_id()
        self._buttons: list[tuple[Element, str]] = []
        self.box = place.add("fieldset", class_="group", id=self.id, tabindex="-1")
        self.legend = self.box.add("legend", title)
        described = [f"{self.id}-hint"] if field.description else []
        self._described = described
        if described:
            self.box.add("small", field.description, id=described[0])
        self.box.set("aria-describedby", " ".join(described) or None)
        self.body = self.box.add("div", class_="group-body")
        self.error = self.box.add("p", id=f"{self.id}-error", class_="field-error", hidden=True)
        line = self.box.add("div", class_="group-buttons")
        self.adder = self._button(line, "Add", "Add {}", self._enter)
        self.dropper = self._button(line, "Leave out", "Leave out {}", self._leave)
        self.own_buttons = line
        self.present = value is not MISSING
        self._built = False
        if self.present:
            self._build(value)
        self._show()

    def _fill(self, value: Any) -> None:
        """Fill the body with the parts of a value."""
        raise NotImplementedError

    def _clear(self) -> None:
        """Forget the parts."""
        raise NotImplementedError

    def _build(self, value: Any) -> None:
        self._fill(value)
        self._built = True

    def _button(self, place: Element, text: str, name: str, act: Callable[[], Any]) -> Element:
        """Add a button whose accessible name holds the group's title."""
        button = place.add("button", text, type="button", class_="small", aria_label=name.format(self.title))
        button.on("click", act)
        self._buttons.append((button, name))
        return button

    def _enter(self) -> None:
        self.present = True
        if not self._built:
            self._build(initial(replace(self.field, required=True)))
        self._show()
        self.focus()
        self.maker.changed()

    def _leave(self) -> None:
        self.present = False
        self.tell("")
        self._show()
        self.adder.focus()
        self.maker.changed()

    def _show(self) -> None:
        self.body.hidden = not self.present
        self.adder.hidden = self.present
        self.dropper.hidden = not self.present or self.field.required

    def tell(self, message: str) -> None:
        """Show what is wrong with the whole."""
        self.error.text = message
        self.error.hidden = not message
        described = ([f"{self.id}-error"] if message else []) + self._described
        self.box.set("aria-describedby", " ".join(described) or None)
        self.box.classes.set("invalid", bool(message))

    def focus(self) -> None:
        """Move the keyboard's focus to the group, or to what adds it."""
        (self.box if self.present else self.adder).focus()

    def rename(self, title: str) -> None:
        """Change the title."""
        self.title = title
        self.legend.text = title
        for button, name in self._buttons:
            button.set("aria-label", name.format(title))

    def _check_missing(self, troubles: list[Trouble]) -> Any:
        self._check_whole(MISSING, troubles)
        return MISSING

    def _check_whole(self, value: Any, troubles: list[Trouble]) -> None:
        if wrong := problem(self.field, value):
            troubles.append(Trouble(self, f"{self.title} {wrong}."))


class Row:
    """An item of a list, or a property that the schema doesn't name, with a button that removes it."""

    def __init__(self, group: Group, title: str, field: Field, value: Any, remove: Callable[[Row], None]) -> None:
        """Put it at the end of the group."""
        self.box = group.body.add("div", class_="row")
        self.key: Element | None = None
        self._label: Element | None = None
        self.main = self.box.add("div", class_="row-main")
        self.make_key(group, title, field)
        self.widget = make(group.maker, field, self.main, title, value)
        self._remove = self.box.add("button", "✕", type="button", class_="small remove", aria_label=f"Remove {title}")
        self._remove.on("click", lambda: remove(self))

    def make_key(self, group: Group, title: str, field: Field) -> None:
        """Put what comes before the value."""

    def rename(self, title: str) -> None:
        """Change the title."""
        self.widget.rename(title)
        self._remove.set("aria-label", f"Remove {title}")

    def focus(self) -> None:
        """Move the keyboard's focus to it."""
        self.widget.focus()


class KeyedRow(Row):
    """A property whose name is typed, too."""

    def make_key(self, group: Group, title: str, field: Field) -> None:
        """Put the name before the value."""
        key_id = group.maker.new_id()
        line = self.main.add("div", class_="field")
        self._label = line.add("label", f"{title} name", for_=key_id)
        self.key = line.add("input", id=key_id, type="text", autocomplete="off", spellcheck="false")

    def rename(self, title: str) -> None:
        """Change the title."""
        super().rename(title)
        if self._label:
            self._label.text = f"{title} name"

    def focus(self) -> None:
        """Move the keyboard's focus to it."""
        if self.key:
            self.key.focus()


class _Rows(Group):
    """A group with rows that can be added and removed."""

    rows: list[Row]
    row_kind: type[Row] = Row

    def _row_title(self, number: int) -> str:
        return f"{self.title} {number}"

    def _row_field(self) -> Field:
        return replace(self.field.more or Field(kind="json", schema={}), required=True, name="", start=MISSING)

    def _add_row(self, value: Any) -> Row:
        row = self.row_kind(self, self._row_title(self._next()), self._row_field(), value, self._remove_row)
        self.rows.append(row)
        return row

    def _next(self) -> int:
        return len(self.rows) + 1

    def _first(self) -> int:
        """The number of the first row."""
        return self._next() - len(self.rows)

    def _append(self) -> None:
        first = self.field.more or Field(kind="json", schema={})
        self._add_row(initial(replace(first, required=True))).focus()
        self.maker.changed()

    def _remove_row(self, row: Row) -> None:
        at = self.rows.index(row)
        first = self._first()
        self.rows.remove(row)
        row.box.remove()
        for number, each in enumerate(self.rows, first):
            each.rename(self._row_title(number))
        if self.rows:
            self.rows[min(at, len(self.rows) - 1)].focus()
        else:
            self.focus()
        self.maker.changed()

    def _clear(self) -> None:
        self.rows = []


class ListGroup(_Rows):
    """A list: items that have a place of their own, and rows."""

    def _fill(self, value: Any) -> None:
        items = value if isinstance(value, list) else []
        members = self.field.members
        self.members = [
            make(
                self.maker,
                replace(member, name=""),
                self.body,
                self._member_title(at, member),
                items[at] if at < len(items) else MISSING,
            )
            for at, member in enumerate(members)
        ]
        self.rows = []
        for item in items[len(members) :]:
            self._add_row(item)
        if self.field.more:
            self._button(self.own_buttons, "Add item", "Add item to {}", self._append)

    def _member_title(self, at: int, member: Field) -> str:
        return f"{self.title} {at + 1}" if member.title == member.name else member.title

    def _next(self) -> int:
        return len(self.field.members) + len(self.rows) + 1

    def _show(self) -> None:
        super()._show()
        for button, name in self._buttons:
            if name == "Add item to {}":
                button.hidden = not self.present

    def rename(self, title: str) -> None:
        """Change the title, and that of every item."""
        super().rename(title)
        if not self._built:
            return
        for at, widget in enumerate(self.members):
            widget.rename(self._member_title(at, self.field.members[at]))
        for number, row in enumerate(self.rows, len(self.members) + 1):
            row.rename(self._row_title(number))

    def _parts(self, read: Callable[[Widget], Any]) -> list[Any]:
        parts = [read(widget) for widget in [*self.members, *(row.widget for row in self.rows)]]
        while parts and parts[-1] is MISSING:
            parts.pop()
        return [None if part is MISSING else part for part in parts]

    def draft(self) -> Any:
        """Give the items; what is not filled in between as null."""
        return self._parts(lambda widget: widget.draft()) if self.present else MISSING

    def check(self, troubles: list[Trouble]) -> Any:
        """Give the items, and add what is wrong with them."""
        if not self.present:
            return self._check_missing(troubles)
        before = len(troubles)
        parts = self._parts(lambda widget: widget.check(troubles))
        filled = [widget.draft() is not MISSING for widget in self.members]
        last = len(parts) if self.rows else max((at + 1 for at, is_filled in enumerate(filled) if is_filled), default=0)
        for widget, is_filled in list(zip(self.members, filled, strict=True))[:last]:
            if not is_filled and not widget.field.required:
                troubles.append(Trouble(widget, f"{widget.title} is required, as something follows it."))
        if len(troubles) == before:
            self._check_whole(parts, troubles)
        return parts


class ObjectGroup(_Rows):
    """An object: its properties, and rows for those that the schema doesn't name."""

    row_kind = KeyedRow

    def _fill(self, value: Any) -> None:
        given = value if isinstance(value, dict) else {}
        self.members = [
            make(self.maker, member, self.body, member.title or member.name, given.get(member.name, MISSING))
            for member in self.field.members
        ]
        named = {member.name for member in self.field.members}
        self.rows = []
        for key, part in given.items():
            if key not in named:
                row = self._add_row(part)
                assert row.key is not None
                row.key.value = key
        if self.field.is_free:
            self._button(self.own_buttons, "Add property", "Add property to {}", self._append)

    def become_root(self) -> None:
        """Take away the frame: this is the whole form, which says its own name."""
        self.box.classes.add("root")
        self.legend.hidden = True
        self.box.set("role", "presentation")

    def _row_field(self) -> Field:
        return replace(super()._row_field(), title="")

    def _row_title(self, number: int) -> str:
        return f"{self.title} property {number}"

    def _show(self) -> None:
        super()._show()
        for button, name in self._buttons:
            if name == "Add property to {}":
                button.hidden = not self.present

    def rename(self, title: str) -> None:
        """Change the title, and that of the rows."""
        super().rename(title)
        if self._built:
            for number, row in enumerate(self.rows, 1):
                row.rename(self._row_title(number))

    def draft(self) -> Any:
        """Give the properties that are there; a row without a name is there as an empty one."""
        if not self.present:
            return MISSING
        parts = {widget.field.name: widget.draft() for widget in self.members}
        for row in self.rows:
            assert row.key is not None
            part = row.widget.draft()
            parts[self._free_key(row.key.value, parts)] = None if part is MISSING else part
        return {key: part for key, part in parts.items() if part is not MISSING}

    @staticmethod
    def _free_key(key: str, parts: dict[str, Any]) -> str:
        """The key, or where it is taken one like it, so that nothing that was typed gets lost."""
        return key if parts.get(key, MISSING) is MISSING else ObjectGroup._free_key(f"{key} (again)", parts)

    def check(self, troubles: list[Trouble]) -> Any:
        """Give the properties, and add what is wrong with them."""
        if not self.present:
            return self._check_missing(troubles)
        before = len(troubles)
        named = {widget.field.name for widget in self.members}
        parts = {widget.field.name: widget.check(troubles) for widget in self.members}
        for row in self.rows:
            assert row.key is not None
            key = row.key.value
            value = row.widget.check(troubles)
            if self.field.more is None:
                troubles.append(Trouble(row.widget, f"{key or 'This property'} must be removed: the schema has none."))
            elif key in parts:
                why = "is a property of the schema" if key in named else "is there twice"
                troubles.append(Trouble(row.widget, f'{row.widget.title} needs another name: "{key}" {why}.'))
            parts[key] = value
        value = {key: part for key, part in parts.items() if part is not MISSING}
        if len(troubles) == before:
            self._check_whole(value, troubles)
        return value


class Choices(Group):
    """Several of a few values, as checkboxes."""

    def _fill(self, value: Any) -> None:
        given = value if isinstance(value, list) else []
        # what was given first keeps its order
        self.order = [at for at in (_place(self.field, each) for each in given) if at is not None]
        self.boxes: list[Element] = []
        for at, choice in enumerate(self.field.choices):
            box_id = self.maker.new_id()
            line = self.body.add("div", class_="choice")
            box = line.add("input", type="checkbox", id=box_id)
            line.add("label", choice.title, for_=box_id)
            box.checked = at in self.order
            self.boxes.append(box)

    def focus(self) -> None:
        """Move the keyboard's focus to the first."""
        (self.boxes[0] if self.present and self.boxes else self.adder).focus()

    def draft(self) -> Any:
        """Give the chosen values."""
        if not self.present:
            return MISSING
        checked = {at for at, box in enumerate(self.boxes) if box.checked}
        order = [*(at for at in self.order if at in checked), *sorted(checked.difference(self.order))]
        return [self.field.choices[at].value for at in order]

    def check(self, troubles: list[Trouble]) -> Any:
        """Give the chosen values, and add what is wrong with them."""
        value = self.draft()
        self._check_whole(value, troubles)
        return value


class Union(Widget):
    """One of several kinds of value: a list to choose the kind, and what is typed for it."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        """Put it into the page."""
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
        self._inner[at] = (holder, make(self.maker, self.field.options[at], holder, self._title(at), value))

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
        """Give what is typed for the chosen kind."""
        if self.chosen is None:
            return MISSING
        widget = self._now()
        return widget.draft() if widget else None

    def check(self, troubles: list[Trouble]) -> Any:
        """Give the value of the chosen kind, and add what is wrong with it."""
        widget = self._now()
        if widget:
            return widget.check(troubles)
        if self.chosen is not None:
            return None
        if self.field.required:
            troubles.append(Trouble(self, f"{self.title} is required: choose its kind."))
        return MISSING

    def tell(self, message: str) -> None:
        """Show what is wrong."""
        self.head.tell(message)

    def focus(self) -> None:
        """Move the keyboard's focus to the list of kinds."""
        self.head.focus()

    def rename(self, title: str) -> None:
        """Change the title."""
        self.title = title
        self.head.rename(self._head_title())
        for at, (_, widget) in self._inner.items():
            widget.rename(self._title(at))


__all__ = ["Choices", "Group", "JsonText", "ListGroup", "ObjectGroup", "Union", "make"]
