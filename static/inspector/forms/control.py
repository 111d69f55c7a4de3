"""The base of a form's parts: a field, its value and its problems, and a control with label, hint and error."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from forms.checks import problem, requirement
from forms.fields import Field
from forms.patterns import PATTERNS
from mcpframe import Element, Page

_forms = itertools.count(1)

MAX_WIDGETS = 1500


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
    is_wrong = False

    def __init__(self, maker: Maker, field: Field, place: Element, title: str) -> None:
        """Add label, hint and error to the page; the subclass adds the control between them."""
        super().__init__(maker, field, title)
        maker.left -= 1
        self.id = maker.new_id()
        self.box = place.add("div", class_="field")
        line = self.box.add("div", class_="field-name")
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
        return {"id": self.id, "aria_describedby": f"{self.id}-hint" if self.hints else None, "aria_required": required}

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
        described = [f"{self.id}-error"] if message else []
        described += [f"{self.id}-hint"] if self.hints else []
        self.input.set("aria-describedby", " ".join(described) or None)
        self.input.set("aria-invalid", "true" if message and self.is_wrong else None)

    def focus(self) -> None:
        """Move the keyboard focus here."""
        self.input.focus()

    def rename(self, title: str) -> None:
        self.title = title
        self.label.text = title
        for element, name in self._beside:
            element.set("aria-label", name.format(title))
