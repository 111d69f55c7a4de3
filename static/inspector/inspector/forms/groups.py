"""The parts of a form that contain others, and the checkboxes for several of a few values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inspector.forms.checks import problem
from inspector.forms.control import Maker, Trouble, Widget
from inspector.forms.fields import Field, initial
from inspector.forms.json_values import MISSING, same
from mcpframe import Element


class Group(Widget):
    """A fieldset with a legend; its value may be missing as a whole."""

    noun = ""

    def __init__(self, maker: Maker, field: Field, place: Element, title: str, value: Any) -> None:
        """Add the fieldset to the page; the subclass fills `self.body`."""
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
        """Show a problem of the whole value."""
        self.error.text = message
        self.error.hidden = not message
        described = ([f"{self.id}-error"] if message else []) + self._described
        self.box.set("aria-describedby", " ".join(described) or None)
        self.box.classes.set("invalid", bool(message))

    def focus(self) -> None:
        """Move the keyboard focus to the group, or to the button that adds it."""
        (self.box if self.present else self.adder).focus()

    def rename(self, title: str) -> None:
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


class Choices(Group):
    """Several of a few values, as checkboxes."""

    def _fill(self, value: Any) -> None:
        given = value if isinstance(value, list) else []
        # existing values keep their order
        self.order = [at for at in (place_of(self.field, each) for each in given) if at is not None]
        self.boxes: list[Element] = []
        for at, choice in enumerate(self.field.choices):
            box_id = self.maker.new_id()
            line = self.body.add("div", class_="choice")
            box = line.add("input", type="checkbox", id=box_id)
            line.add("label", choice.title, for_=box_id)
            box.checked = at in self.order
            self.boxes.append(box)

    def focus(self) -> None:
        """Move the keyboard focus to the first checkbox."""
        (self.boxes[0] if self.present and self.boxes else self.adder).focus()

    def draft(self) -> Any:
        """Return the chosen values."""
        if not self.present:
            return MISSING
        checked = {at for at, box in enumerate(self.boxes) if box.checked}
        order = [*(at for at in self.order if at in checked), *sorted(checked.difference(self.order))]
        return [self.field.choices[at].value for at in order]

    def check(self, troubles: list[Trouble]) -> Any:
        """Return the chosen values, and add their problems to the list."""
        value = self.draft()
        self._check_whole(value, troubles)
        return value


def place_of(field: Field, value: Any) -> int | None:
    return next((at for at, choice in enumerate(field.choices) if same(value, choice.value)), None)
