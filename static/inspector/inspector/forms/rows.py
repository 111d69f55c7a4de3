"""Form parts with a variable number of values: lists, and objects with properties outside of the schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inspector.forms.control import Trouble, Widget
from inspector.forms.fields import Field, initial
from inspector.forms.groups import Group
from inspector.forms.json_values import MISSING
from mcpframe import Element


class Row:
    """An item of a list, or a property outside of the schema, with a button that removes it."""

    def __init__(self, group: Group, title: str, field: Field, value: Any, remove: Callable[[Row], None]) -> None:
        """Add the row at the end of the group."""
        self.box = group.body.add("div", class_="row")
        self.key: Element | None = None
        self._label: Element | None = None
        self.main = self.box.add("div", class_="row-main")
        self.make_key(group, title, field)
        self.widget = group.maker.make(group.maker, field, self.main, title, value)
        self._remove = self.box.add("button", "✕", type="button", class_="small remove", aria_label=f"Remove {title}")
        self._remove.on("click", lambda: remove(self))

    def make_key(self, group: Group, title: str, field: Field) -> None:
        """Add the elements before the value."""

    def rename(self, title: str) -> None:
        self.widget.rename(title)
        self._remove.set("aria-label", f"Remove {title}")

    def focus(self) -> None:
        """Move the keyboard focus to the row."""
        self.widget.focus()


class KeyedRow(Row):
    """A property with an editable name."""

    def make_key(self, group: Group, title: str, field: Field) -> None:
        """Add the name before the value."""
        key_id = group.maker.new_id()
        line = self.main.add("div", class_="field")
        self._label = line.add("label", f"{title} name", for_=key_id)
        self.key = line.add("input", id=key_id, type="text", autocomplete="off", spellcheck="false")

    def rename(self, title: str) -> None:
        super().rename(title)
        if self._label:
            self._label.text = f"{title} name"

    def focus(self) -> None:
        """Move the keyboard focus to the row."""
        if self.key:
            self.key.focus()


class _Rows(Group):
    """A group with rows that can be added and removed.

    Attributes:
        adds: The name of the button that adds one.
    """

    adds: str
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
        """The index of the first row."""
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

    def _show(self) -> None:
        super()._show()
        for button, name in self._buttons:
            if name == self.adds:
                button.hidden = not self.present


class ListGroup(_Rows):
    """A list: items with their own schemas, then rows."""

    adds = "Add item to {}"

    def _fill(self, value: Any) -> None:
        items = value if isinstance(value, list) else []
        members = self.field.members
        self.members = [
            self.maker.make(
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
            self._button(self.own_buttons, "Add item", self.adds, self._append)

    def _member_title(self, at: int, member: Field) -> str:
        return f"{self.title} {at + 1}" if member.title == member.name else member.title

    def _next(self) -> int:
        return len(self.field.members) + len(self.rows) + 1

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
        """Return the items; empty ones in between as null."""
        return self._parts(lambda widget: widget.draft()) if self.present else MISSING

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the items, and add their problems to the list."""
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
    """An object: its properties, and rows for properties outside of the schema."""

    adds = "Add property to {}"
    row_kind = KeyedRow

    def _fill(self, value: Any) -> None:
        given = value if isinstance(value, dict) else {}
        self.members = [
            self.maker.make(self.maker, member, self.body, member.title or member.name, given.get(member.name, MISSING))
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
            self._button(self.own_buttons, "Add property", self.adds, self._append)

    def become_root(self) -> None:
        """Remove the fieldset: the group is the whole form, which has its own name.

        A schema without properties usually belongs to a tool without arguments: properties can be added only if it
        allows them explicitly.
        """
        self.box.classes.add("root")
        self.legend.hidden = True
        if not self.field.says_more:
            for button, name in self._buttons:
                button.hidden = button.hidden or name == self.adds

    def _row_field(self) -> Field:
        return replace(super()._row_field(), title="")

    def _row_title(self, number: int) -> str:
        return f"{self.title} property {number}"

    def rename(self, title: str) -> None:
        """Change the title, and that of the rows."""
        super().rename(title)
        if self._built:
            for number, row in enumerate(self.rows, 1):
                row.rename(self._row_title(number))

    def draft(self) -> Any:
        """Return the present properties; a row without a name has an empty one."""
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
        """Return the key, or a similar one if it is taken, so that no typed value is lost."""
        return key if parts.get(key, MISSING) is MISSING else ObjectGroup._free_key(f"{key} (again)", parts)

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the properties, and add their problems to the list."""
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
