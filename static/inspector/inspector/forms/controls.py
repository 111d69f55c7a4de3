"""The controls of a form for single values: text, number, choice, file and JSON, with label, hint and error.

Input is kept as text, valid or not. A control that cannot show a value without changing it (a line
break in a single line, an invisible character) is replaced by one for JSON.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

from inspector.forms.checks import fits
from inspector.forms.control import Control, Maker
from inspector.forms.fields import Field
from inspector.forms.json_values import MAX_DIGITS, MISSING, NotJson, as_number, read_json, same, write_json
from mcpframe import Element
from mcpframe.hosts import visible

_INPUT_MODES = {"email": "email", "uri": "url", "url": "url", "number": "decimal", "integer": "numeric"}
_PICKERS = {"date": "date", "time": "time", "date-time": "datetime-local", "color": "color", "colour": "color"}
_HELD_BYTES = 64 * 1024
"""The number of characters of a file's base64 shown as text."""


class JsonText(Control):
    """JSON as text, for values without another control."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, place, title)
        self.input = self.add_area(class_="json")
        self.input.value = "" if value is MISSING else write_json(value)

    def hint(self) -> str:
        return "JSON" if not super().hint() else f"JSON. {super().hint()}"

    def draft(self) -> Any:
        """Return the value, or the text if it is not JSON."""
        text = self.input.value
        try:
            return read_json(text) if text.strip() else MISSING
        except NotJson:
            return text

    def wrong(self, value: Any) -> str | None:
        """Return the problem of the text, or of its value."""
        text = self.input.value
        try:
            if text.strip():
                read_json(text)
        except NotJson as error:
            return str(error)
        wrong = super().wrong(value)
        if wrong or value is MISSING or fits(self.field, value):
            return wrong
        return "has a part that the schema does not allow"


class Text(Control):
    """Text, or a number as text."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, place, title)
        form = field.schema.get("format")
        form = form if isinstance(form, str) else ""
        text = "" if value is MISSING or value is None else value if isinstance(value, str) else json.dumps(value)
        self._blank = value == ""
        self._suggest: Callable[[], None] | None = None
        if field.kind == "text" and (field.multiline or "\n" in text):
            self.input = self.add_area(breaks=field.has_long_format)
        else:
            kind = "password" if form == "password" else "text"
            mode = _INPUT_MODES.get(form if field.kind == "text" else field.kind)
            self.input = self.body.add(
                "input", **self.attributes(), type=kind, inputmode=mode, autocomplete="off", spellcheck="false"
            )
        self.input.value = text
        if form in _PICKERS and field.kind == "text":
            self._add_picker(_PICKERS[form])
        self.null = _add_null(self, value) if field.nullable else None

    def _add_picker(self, kind: str) -> None:
        self.picker = self.add_beside(self.body, "Pick {}", type=kind, class_="picker")
        if kind == "time":
            self.picker.set("step", "1")
        if kind == "color" and re.fullmatch("#[0-9A-Fa-f]{6}", self.input.value):
            self.picker.value = self.input.value

        def pick() -> None:
            picked = self.picker.value
            if kind == "datetime-local" and picked:
                picked += "Z" if picked.count(":") > 1 else ":00Z"
            if picked:
                self.input.value = picked
                self.maker.changed()

        self.picker.on("input", pick)

    def draft(self) -> Any:
        """Return the text or number; a text that is not a number is returned unchanged."""
        if self.null and self.null.checked:
            return None
        text = self.input.value
        if self.field.kind == "text":
            return text if text or self._blank else MISSING
        return as_number(text, whole=self.field.kind == "integer")

    def offer(self, values: list[str]) -> None:
        """Offer completions, in a single line."""
        listed = f"{self.id}-list"
        if self.input.get("list") is None:
            if self.input.js.tagName == "TEXTAREA":
                if self.keys is not None:
                    self.keys.remove()
                    self.keys = None
                had, text = self.attributes(), self.input.value
                self.body.clear()
                self.input = self.body.add("input", **had, type="text", autocomplete="off", spellcheck="false")
                self.input.value = text
            self.input.set("list", listed)
            self.options = self.body.add("datalist", id=listed)
        self.options.clear()
        for value in values:
            if visible(value) == value:  # others could not be told apart
                self.options.add("option", value=value)


class Select(Control):
    """One of several values, in a list; with `MISSING` and null if they are allowed."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, place, title)
        self._values: dict[str, Any] = {}
        self.input = self.body.add("select", **self.attributes())
        chosen = ""
        if value is MISSING or not field.required:
            self.input.add("option", "choose …" if field.required else "left out", value="")
        given = [(choice.value, choice.title) for choice in field.choices]
        if field.kind == "boolean":
            given = [(True, "true"), (False, "false")]
        if field.nullable and not any(each is None for each, _ in given):
            given.append((None, "null"))
        for at, (each, name) in enumerate(given):
            self._values[str(at)] = each
            self.input.add("option", name, value=str(at))
            if value is not MISSING and same(each, value) and not chosen:
                chosen = str(at)
        self.input.value = chosen

    def draft(self) -> Any:
        """Return the chosen value."""
        return self._values.get(self.input.value, MISSING)


class Check(Control):
    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, place, title)
        self.box.classes.add("field-check")
        self.input = self.body.add("input", **(self.attributes() | {"aria_required": None}), type="checkbox")
        self.input.checked = value is True

    def draft(self) -> Any:
        return self.input.checked


class FileText(Control):
    """A file as base64: chosen, or pasted as text."""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        super().__init__(maker, field, place, title)
        self.input = self.add_area(class_="json")
        self.null = _add_null(self, value) if field.nullable else None
        self.picker = self.add_beside(self.body, "Choose a file for {}", type="file")
        self.picker.on("change", self._choose)
        self._choices = 0
        self._reading = False
        self._held = ""
        self._hold("" if value in (MISSING, None) else value)

    def hint(self) -> str:
        """Return the hint that a file is expected."""
        return ". ".join(filter(None, ["A file, or its content as base64", super().hint()]))

    async def _choose(self) -> None:
        (file,) = await self.picker.files()
        url = "base64url" in (self.field.schema.get("contentEncoding"), self.field.schema.get("format"))
        self._choices += 1
        choice = self._choices
        self._reading = True
        try:
            data = await file.read()
            if choice == self._choices:  # otherwise another file was chosen meanwhile
                self._hold((base64.urlsafe_b64encode if url else base64.b64encode)(data).decode())
        finally:
            if choice == self._choices:
                self._reading = False
                self.maker.changed()

    def wrong(self, value: Any) -> str | None:
        """Return the problem of the content, also if it is not loaded yet."""
        if self._reading and value is not None:
            return "is still being read"
        return super().wrong(value)

    def _hold(self, text: str) -> None:
        """Keep a long text outside the page, which it would slow down."""
        shown = len(text) <= _HELD_BYTES
        self._held = "" if shown else text
        self.input.value = text if shown else ""
        self.input.set("placeholder", None if shown else f"{len(text):,} characters of base64; type to replace them")

    def draft(self) -> Any:
        """Return the base64 text."""
        if self.null and self.null.checked:
            return None
        return self.input.value or self._held or MISSING


def _add_null(control: Text | FileText, value: Any) -> Element:
    """Add the choice of null beside a control."""
    line = control.body.add("label", class_="null")
    null = control.add_beside(line, "{} is null", type="checkbox")
    line.add("span", "null")
    null.checked = value is None

    def switch() -> None:
        control.input.disabled = null.checked

    null.on("change", switch)
    switch()
    return null


def is_shown(field: Field, value: Any) -> bool:
    """Return whether the control of a field can show a value without changing it."""
    if value is MISSING:
        return True
    if value is None and field.nullable:
        return True
    match field.kind:
        case "text":
            return isinstance(value, str) and visible(value) == value
        case "file":
            return isinstance(value, str) and visible(value) == value and "\n" not in value
        case "number" | "integer":
            if isinstance(value, str):
                return as_number(value, whole=False) is value and visible(value) == value and "\n" not in value
            return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 10**MAX_DIGITS
        case "boolean":
            return isinstance(value, bool)
        case "choice":
            return any(same(value, choice.value) for choice in field.choices)
    return True


def make_control(maker: Maker, field: Field, place: Element, title: str, value: Any) -> Control:
    """Add the control of a field with a single value to the page."""
    if maker.left <= 0 or not is_shown(field, value):
        return JsonText(maker, field, place, title, value)
    match field.kind:
        case "text" | "number" | "integer":
            return Text(maker, field, place, title, value)
        case "file":
            return FileText(maker, field, place, title, value)
        case "boolean" if field.required and not field.nullable and value is not MISSING:
            return Check(maker, field, place, title, value)
        case "boolean" | "choice":
            return Select(maker, field, place, title, value)
    return JsonText(maker, field, place, title, value)
