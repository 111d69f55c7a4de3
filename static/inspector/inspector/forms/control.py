"""The base of a form's parts: a field, its value and its problems, and a control with label, hint and error."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from inspector.forms.checks import problem, requirement
from inspector.forms.fields import Field
from inspector.forms.patterns import PATTERNS
from mcpframe import Element, Page

_forms = itertools.count(1)

MAX_WIDGETS = 1500
SUBMITTING = "send"
"""The `enterkeyhint` of a text area in which Enter submits the form."""
_SUBMITS = "Enter submits, Shift+Enter breaks the line"
_BREAKS = "Ctrl+Enter submits"


@dataclass
class Trouble:
    """A problem with the input.

    Attributes:
        widget: the field.
        message: a sentence.
        prevents: whether it prevents sending the value.
    """

    widget: Widget
    message: str
    prevents: bool = True


class Make(Protocol):
    """Adds a field to the page, filled with a value."""

    def __call__(self, maker: Maker, field: Field, place: Element, title: str, value: Any, /) -> Widget:
        """Create the widget at the end of an element."""


@dataclass
class Maker:
    """State shared by all parts of one form.

    Attributes:
        left: the number of controls that may still be added; further fields are shown as JSON.
        changed: called after a change other than by typing.
        make: adds a field to the page.
    """

    page: Page
    changed: Callable[[], None]
    make: Make
    left: int = MAX_WIDGETS
    prefix: str = field(default_factory=lambda: f"form-{next(_forms)}")
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def new_id(self) -> str:
        """Return an id that is unique in the page."""
        return f"{self.prefix}-{next(self._ids)}"


class Widget:
    """One place of the form."""

    def __init__(self, maker: Maker, field: Field, title: str) -> None:
        """Create a widget; the subclass adds it to the page."""
        self.maker, self.field, self.title = maker, field, title

    def draft(self) -> Any:
        """Return the current value, valid or not; `MISSING` for none."""
        raise NotImplementedError

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the value, and add its problems to the list."""
        raise NotImplementedError

    def tell(self, message: str) -> None:
        """Show a problem of this field; empty removes it."""
        raise NotImplementedError

    def focus(self) -> None:
        """Move the keyboard focus here."""
        raise NotImplementedError

    def rename(self, title: str) -> None:
        """Change the title."""
        raise NotImplementedError


class Control(Widget):
    """A widget with a label and one control; `self.input` has the id."""

    input: Element
    keys: Element | None = None
    is_wrong = False

    def __init__(self, maker: Maker, field: Field, place: Element, title: str) -> None:
        """Add label, hint and error to the page; the subclass adds the control between them."""
        super().__init__(maker, field, title)
        maker.left -= 1
        self.id = maker.new_id()
        self.box = place.add("div", class_="field")
        line = self._line = self.box.add("div", class_="field-name")
        self.label = line.add("label", title, for_=self.id)
        if field.name and field.name != title:
            line.add("code", field.name)
        if not field.required:
            line.add("span", "optional", class_="mark")
        self.body = self.box.add("div", class_="field-body")
        said = field.description.strip()
        hints = f"{said}{'' if not said or said[-1] in '.!?' else '.'} {self.hint()}".strip() if self.hint() else said
        self.hints = self.box.add("small", hints, id=f"{self.id}-hint") if hints else None
        self.error = self.box.add("p", id=f"{self.id}-error", class_="field-error", hidden=True)
        self._beside: list[tuple[Element, str]] = []

    def add_area(self, *, class_: str | None = None, breaks: bool = False) -> Element:
        """Add a text area, one line high until its text is longer, and name its keys beside the label.

        Args:
            breaks: whether Enter breaks the line, as in a text of several; otherwise it submits the form.
        """
        self.keys = add_keys(self._line, self.id, breaks=breaks)
        hint = "enter" if breaks else SUBMITTING
        return self.body.add(
            "textarea", **self.attributes(), class_=class_, rows="1", spellcheck="false", enterkeyhint=hint
        )

    def add_beside(self, place: Element, name: str, **attributes: str | bool | None) -> Element:
        """Add an input whose accessible name holds the title."""
        made = place.add("input", **attributes, aria_label=name.format(self.title))
        self._beside.append((made, name))
        return made

    def hint(self) -> str:
        """Return a short hint of the allowed values."""
        said = requirement(self.field)
        return said[:1].upper() + said[1:]

    def attributes(self) -> dict[str, str | bool | None]:
        """The attributes of every control."""
        required = "true" if self.field.required else None
        return {"id": self.id, "aria_describedby": self._described(), "aria_required": required}

    def _described(self, *first: str) -> str | None:
        """Return the ids of the texts that describe the control."""
        texts = [each.js.id for each in (self.hints, self.keys) if each is not None]
        return " ".join([*first, *texts]) or None

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the value, and add its problems to the list."""
        value = self.draft()
        if wrong := self.wrong(value):
            troubles.append(Trouble(self, f"{self.title} {wrong}."))
        elif isinstance(value, str) and PATTERNS.is_late(str(self.field.schema.get("pattern"))):
            troubles.append(Trouble(self, f"{self.title} could not be checked in time.", prevents=False))
        self.is_wrong = wrong is not None
        return value

    def wrong(self, value: Any) -> str | None:
        """Return the problem of the value, as the rest of a sentence that begins with the title."""
        return problem(self.field, value)

    def tell(self, message: str) -> None:
        """Show a problem of this field."""
        self.error.text = message
        self.error.hidden = not message
        self.input.set("aria-describedby", self._described(*([f"{self.id}-error"] if message else [])))
        self.input.set("aria-invalid", "true" if message and self.is_wrong else None)

    def focus(self) -> None:
        """Move the keyboard focus here."""
        self.input.focus()

    def rename(self, title: str) -> None:
        self.title = title
        self.label.text = title
        for element, name in self._beside:
            element.set("aria-label", name.format(title))


def add_keys(line: Element, id_: str, *, breaks: bool) -> Element:
    """Name the keys of a text area in the line of its label."""
    return line.add("span", _BREAKS if breaks else _SUBMITS, id=f"{id_}-keys", class_="keys")
