"""A form in the page for any JSON Schema, with its value as raw JSON beside it.

    form = Form(page, place, tool["inputSchema"], label="Arguments of add")
    form.fill({"a": 1})
    arguments = await form.checked()    # FormProblem for invalid input; the page shows the problems

Raw JSON is sent unchecked, so that an author can see how a server handles invalid arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from inspector.forms.control import SUBMITTING, Maker, Trouble, Widget, add_keys
from inspector.forms.controls import Text
from inspector.forms.fields import initial
from inspector.forms.json_values import MISSING, NotJson, read_json, same, write_json
from inspector.forms.patterns import PATTERNS
from inspector.forms.rows import ObjectGroup
from inspector.forms.schema import fields_of
from inspector.forms.unions import make_widget
from mcpframe import Element, Page, PageEvent

__all__ = ["Complete", "Form", "FormProblem"]

Complete = Callable[[str], Awaitable[list[str]]]
"""Returns completions of the text in a field."""
_PASSES = 10  # a match may decide which others are tried


class FormProblem(Exception):
    """The fields do not form a valid value. The page shows the problems beside them.

    Attributes:
        messages: a sentence for every field.
    """

    def __init__(self, messages: list[str]) -> None:
        """Join the sentences to one message."""
        super().__init__(" ".join(messages))
        self.messages = messages


class Form:
    """A form for a JSON Schema.

    Attributes:
        field: the field of the schema.
    """

    def __init__(self, page: Page, place: Element, schema: Any, *, label: str) -> None:
        """Build the form, filled with the initial values of the schema.

        Args:
            place: the parent element, at whose end the form is added.
            schema: a JSON Schema.
            label: its accessible name, such as "Arguments of add".
        """
        self.field = fields_of(schema, name=label)
        self._schema, self._label = schema, label
        self._touched = False
        self._page = page
        self._marked: list[Widget] = []
        self._completions: dict[str, _Completion] = {}
        self._raw = False
        self._left_raw = ""
        self.box = place.add("div", class_="form", role="group", aria_label=label)
        self._body = self.box.add("div", class_="form-body")
        self._raw_box = self.box.add("div", class_="form-raw", hidden=True)
        raw_id = f"{Maker(page, self._changed, make_widget).prefix}-raw"
        line = self._raw_box.add("div", class_="field-name")
        line.add("label", f"{label} as JSON", for_=raw_id)
        keys = add_keys(line, raw_id, breaks=True)
        self._text = self._raw_box.add(
            "textarea",
            id=raw_id,
            class_="json",
            spellcheck="false",
            rows="6",
            aria_describedby=f"{raw_id}-error {keys.js.id}",
        )
        self._raw_error = self._raw_box.add("p", id=f"{raw_id}-error", class_="field-error", hidden=True)
        line = self.box.add("div", class_="form-buttons")
        self._switch = line.add("button", "Raw JSON", type="button", class_="small", aria_pressed="false")
        self._switch.on("click", self._toggle)
        self.box.on("input", self._changed)
        self.box.on("change", self._changed)
        self.box.on("keydown", self._on_key)
        self._widget: Widget
        start = initial(self.field)
        self._build(start)
        if self.field.kind == "json":
            self._switch.hidden = True
            self._text.value = "{}" if start is MISSING else write_json(start)
            self._show_raw(True)
        elif not PATTERNS.is_settled:
            page.run(self._check_start, "Checking initial values")

    async def _check_start(self) -> None:
        """Leave out initial values that do not match their pattern, unless the user has typed meanwhile."""
        before = initial(self.field)
        if await PATTERNS.settle() and not self._touched:
            field = fields_of(self._schema, name=self._label)
            if not same(initial(field), before):
                self.field = field
                self._build(initial(field))

    # Its value

    async def checked(self) -> Any:
        """Return the entered value, once its patterns have been matched.

        Raises:
            FormProblem: see `value`.
        """
        for _ in range(_PASSES):
            if not self._raw:
                self._widget.check([])
            if not await PATTERNS.settle():
                break
        return self.value()

    def value(self) -> Any:
        """Return the entered value, with the checks completed so far.

        Raises:
            FormProblem: a field is missing or invalid; the page shows the problems, and the first such field has the
                focus.
        """
        if self._raw:
            return self._read_raw()
        troubles: list[Trouble] = []
        value = self._widget.check(troubles)
        self._tell(troubles)
        if wrong := [trouble for trouble in troubles if trouble.prevents]:
            wrong[0].widget.focus()
            raise FormProblem([trouble.message for trouble in wrong])
        return {} if value is MISSING else value

    def draft(self) -> Any:
        """Return the input so far, valid or not: an invalid number as text, and without empty fields.

        Raises:
            FormProblem: raw JSON is shown, and is not JSON.
        """
        if self._raw:
            return self._read_raw()
        value = self._widget.draft()
        return {} if value is MISSING else value

    def fill(self, value: Any) -> None:
        """Show another value instead of the input."""
        self._touched = True
        self._build(value)
        if self._raw:
            self._text.value = self._left_raw = write_json(value)
            self._tell_raw("")

    @property
    def raw(self) -> bool:
        """Whether the value is shown as raw JSON. Setting it switches between both, and keeps the input.

        Raises:
            FormProblem: raw JSON is switched off while its text is not JSON.
        """
        return self._raw

    @raw.setter
    def raw(self, raw: bool) -> None:
        if raw == self._raw or self.field.kind == "json":
            return
        if raw:
            self._text.value = self._left_raw = write_json(self.draft())
            self._tell_raw("")
        elif self._text.value != self._left_raw:  # otherwise the form still has this value
            self._build(self._read_raw())
        self._show_raw(raw)

    def complete(self, name: str, callback: Complete) -> None:
        """Offer completions of a text field while the user types.

        Args:
            name: the name of the property.
            callback: called on input, one call at a time; a result for a text that has changed meanwhile is ignored.
        """
        self._completions[name] = _Completion(self._page, callback)
        self._attach(name)

    # Its display

    def _build(self, value: Any) -> None:
        self._marked = []
        self._body.clear()
        maker = Maker(self._page, self._changed, make_widget)
        if value is MISSING and self.field.kind == "object":
            value = {}
        self._widget = make_widget(maker, self.field, self._body, self._label, value)
        if isinstance(self._widget, ObjectGroup):
            self._widget.become_root()
            if not self.field.members and not self._widget.rows and not self.field.says_more:
                self._body.add("p", "Nothing to fill in.", class_="quiet")
        for name in self._completions:
            self._attach(name)

    def _attach(self, name: str) -> None:
        if isinstance(self._widget, ObjectGroup):
            for widget in self._widget.members:
                if widget.field.name == name and isinstance(widget, Text):
                    self._completions[name].attach(widget)

    def _toggle(self) -> None:
        try:
            self.raw = not self._raw
        except FormProblem:
            return  # the page shows the problems
        self._switch.focus()

    def _show_raw(self, raw: bool) -> None:
        self._raw = raw
        self._body.hidden = raw
        self._raw_box.hidden = not raw
        self._switch.set("aria-pressed", "true" if raw else "false")

    def _read_raw(self) -> Any:
        try:
            value = read_json(self._text.value)
        except NotJson as error:
            message = f"{self._label} {error}."
            self._tell_raw(message)
            self._text.focus()
            raise FormProblem([message]) from None
        self._tell_raw("")
        return value

    def _tell_raw(self, message: str) -> None:
        self._raw_error.text = message
        self._raw_error.hidden = not message
        self._text.set("aria-invalid", "true" if message else None)

    def _tell(self, troubles: list[Trouble]) -> None:
        for widget in self._marked:
            widget.tell("")
        self._marked = []
        for trouble in troubles:
            if trouble.widget not in self._marked:
                trouble.widget.tell(trouble.message)
                self._marked.append(trouble.widget)

    def _on_key(self, event: PageEvent) -> None:
        """Submit the form on Ctrl+Enter from every field, and on Enter where Shift+Enter breaks the line."""
        key, target = event.js, event.target
        if event.key != "Enter" or key.isComposing:  # the Enter that ends a composition belongs to the input method
            return
        alone = target is not None and target.get("enterkeyhint") == SUBMITTING and not key.shiftKey
        around = self.box.js.closest("form") if alone or key.ctrlKey or key.metaKey else None
        if around:
            key.preventDefault()
            around.requestSubmit()

    def _changed(self) -> None:
        self._touched = True
        if self._raw:
            if not self._raw_error.hidden:
                self._tell_raw("")
        elif self._marked:
            self._check_again()
            if not PATTERNS.is_settled:
                self._page.run(self._settle_again, "Checking the form")

    async def _settle_again(self) -> None:
        if await PATTERNS.settle() and not self._raw:
            self._check_again()

    def _check_again(self) -> None:
        """Check the fields whose problems are shown."""
        if self._marked:
            troubles: list[Trouble] = []
            self._widget.check(troubles)
            self._tell([trouble for trouble in troubles if trouble.widget in self._marked])


class _Completion:
    """The completions of one field."""

    def __init__(self, page: Page, callback: Complete) -> None:
        self._page = page
        self._callback = callback

    def attach(self, widget: Text) -> None:
        """Show the completions in a widget."""
        widget.offer([])
        asking = False

        async def ask() -> None:
            nonlocal asking
            if asking:
                return  # the next pass uses the newer text
            asking = True
            try:
                asked = None
                while asked != widget.input.value and widget.input.js.isConnected:
                    asked = widget.input.value
                    values = await self._callback(asked)
                    if asked == widget.input.value:
                        widget.offer(values)
            finally:
                asking = False

        widget.input.on("input", ask)
        widget.input.on("focus", ask)
