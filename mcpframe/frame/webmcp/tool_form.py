"""A form for a tool of the page's own server: its user enters the arguments, and sees the result.

Where the document takes tools (WebMCP), the form also declares the tool: an agent fills the form in, and the browser
gives it the result once the form is submitted. All texts of the server are set as text.

Source: WebMCP, declarative API: `toolname`, `tooldescription`, `toolautosubmit`, `toolparamdescription`,
`SubmitEvent.agentInvoked` and `respondWith`, and the events `toolactivated` and `toolcancel`, which Chromium 156
dispatches at `document.modelContext`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcpframe.frame.core import payload
from mcpframe.frame.dialects.webmcp.tools import failure
from mcpframe.frame.page.elements import Element
from mcpframe.frame.webmcp.form_fields import MISSING, FormField, WrongEntryError, fields_of
from mcpframe.frame.webmcp.own_tools import OwnTool, OwnTools, Serve

if TYPE_CHECKING:
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.session.interfaces import Messages
    from mcpframe.frame.webmcp.offering import Offering

BUNDLED_WITH = ("tool_forms",)

_MOST_SHOWN: Final = 20_000
"""Characters of a text of a result in the page; agents get all of it."""
_ENDED: Final = "The page's session has ended."
_numbers = itertools.count(1)


class ToolForm:
    """A form in the page.

    Attributes:
        box: the element around the form and the result. The form's own object is hidden by its controls: `form.remove`
            is the control of that name.
    """

    def __init__(
        self, page: Page, tools: OwnTools, tool: OwnTool, take_back: Callable[[], None] | None, *, autosubmit: bool
    ) -> None:
        """Create it, outside of the document.

        Args:
            page: the page.
            tools: its server's tools.
            tool: the tool.
            take_back: registers the tool at the document, once the form no longer declares it; None if it never does.
            autosubmit: whether an agent submits it without the user.
        """
        self._page, self._tools, self._tool = page, tools, tool
        self._title = str(tool.definition.get("title") or tool.name)
        self._running = False
        self._take_back = take_back
        self._waits_for_user = not autosubmit
        self._id = f"mcpframe-form-{next(_numbers)}"
        self._controls: list[tuple[FormField, Element, Element]] = []
        self.box = Element(page.js.createElement("div"), page)
        self.box.classes.add("mcpframe-form")
        self._build(autosubmit)

    def _build(self, autosubmit: bool) -> None:
        about = str(self._tool.definition["description"])
        # A form of this method never leads elsewhere, also if nobody listens any more.
        self._form = form = self.box.add("form", method="dialog", autocomplete="off", aria_label=self._title)
        if self._take_back:
            form.set("tooldescription", about)
            form.set("toolautosubmit", autosubmit)
            form.set("toolname", self._tool.declared)
        if (first := about.partition("\n\n")[0].strip()) != self._title:
            form.add("p", first, class_="mcpframe-about")
        for number, field in enumerate(fields_of(self._tool.definition.get("inputSchema"))):
            self._add(form.add("div", class_="mcpframe-field"), field, f"{self._id}-{number}")
        self._button = form.add("button", self._title, type="submit", class_="main")
        self._status = self.box.add("div", role="status")
        self._problem = self.box.add("div", role="alert", class_="mcpframe-wrong")

    def _add(self, place: Element, field: FormField, id_: str) -> None:
        """Add a field: its label, control, hint and error."""
        label = Element(self._page.js.createElement("label"), self._page)
        label.set("for", id_)
        label.text = field.label
        if not field.required:
            label.add("small", " (optional)")
        if field.kind != "check":
            place.js.append(label.js)
        described = f"{id_}-hint {id_}-error" if field.hint else f"{id_}-error"
        control = place.add(field.tag, id=id_, name=field.name, aria_describedby=described)
        for name, value in field.attributes.items():
            control.set(name, value)
        control.set("required", field.must_be_entered)
        control.set("toolparamdescription", field.hint or field.label)
        if field.kind == "check":
            control.set("type", "checkbox")
            control.set("checked", field.start)
            place.js.append(label.js)
        elif field.tag == "select":
            _add_choices(control, field)
        elif field.tag == "textarea":
            control.set("rows", "3")
            control.text = field.start
        else:
            control.set("value", field.start)
        if field.hint:
            place.add("small", field.hint, id=f"{id_}-hint")
        self._controls.append((field, control, place.add("p", id=f"{id_}-error", class_="mcpframe-wrong", hidden=True)))

    def begin(self) -> None:
        """Listen to it, until it is removed from the page. Called once it is in the document."""
        stops = []
        if self._take_back:
            hear = partial(self._page.listen, self._page.js.modelContext)
            stops.append(hear("toolchange", lambda _: self._page.forget_removed()))  # by whomever
            if self._waits_for_user:
                check = f"An agent has filled in this form. Check it, then choose “{self._title}”."
                stops += [hear("toolactivated", partial(self._say, check)), hear("toolcancel", partial(self._say, ""))]

        def lost() -> None:
            for stop in stops:
                stop()
            self._tools.at_end.discard(self.leave)
            self.leave()

        self._page.listen(self.box.js, "submit", self._submitted, lost)
        self._tools.at_end.add(self.leave)

    def leave(self) -> None:
        """Declare the tool no longer: it is registered at the document again."""
        take_back, self._take_back = self._take_back, None
        if take_back:
            self._form.set("toolname", None)
            take_back()

    def _say(self, text: str, js: Any) -> None:
        """Say what an agent does with this form, unless the tool runs."""
        if not self._running and getattr(js, "toolName", None) == self._tool.declared:
            self._status.text = text

    def _submitted(self, js: Any) -> None:
        """Run the tool. An agent has to be promised its answer while the event lasts."""
        js.preventDefault()
        page = self._page
        page.run(lambda: self._run(page.browser.agent_answer(js)), f"The form for {self._tool.name!r}")

    async def _run(self, answer: Callable[[str], None] | None) -> None:
        result: Mapping[str, Any] = failure(_ENDED)
        try:
            if self._running:
                result = failure(f"{self._title} still runs.")
                return
            arguments, wrong = self._entered()
            if wrong:
                result = failure(" ".join(wrong))
                return
            self._began()
            try:
                result = await self._tools.call(self._tool, arguments)
            finally:
                self._running = False
                self._button.set("aria-disabled", None)
            self._show(result)
        finally:
            if answer:
                answer(payload.encode(result))

    def _began(self) -> None:
        self._running = True
        self._button.set("aria-disabled", "true")  # one that is disabled would lose the focus
        self._problem.clear()
        self._status.text = "Running …"

    def _entered(self) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments, and the problems, which are shown at their fields; the first one gets the focus."""
        arguments: dict[str, Any] = {}
        wrong: list[str] = []
        for field, control, error in self._controls:
            text = ""
            try:
                argument = field.argument(_content(field, control))
                if argument is not MISSING:
                    arguments[field.name] = argument
            except WrongEntryError as problem:
                text = f"{field.label} {problem}"
                if not wrong:
                    control.focus()
                wrong.append(text)
            control.set("aria-invalid", "true" if text else None)
            error.text, error.hidden = text, not text
        return arguments, wrong

    def _show(self, result: Mapping[str, Any]) -> None:
        place = self._problem if result.get("isError") else self._status
        self._status.clear()
        blocks = result.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            _show_block(place, block)
        if not place.js.childElementCount:
            data = result.get("structuredContent")
            _show_text(place, "Done." if data is None else json.dumps(data, indent=2, ensure_ascii=False))


def _add_choices(control: Element, field: FormField) -> None:
    chosen = [field.start] if field.kind == "choice" else field.start
    if field.kind == "choice" and (field.nullable or not field.start):
        control.add("option", "Choose …" if field.required and not field.nullable else "None", value="")
    for text, label, _ in field.choices:
        control.add("option", label, value=text, selected=text in chosen)


def _content(field: FormField, control: Element) -> Any:
    """Return what was entered."""
    if field.kind == "check":
        return control.checked
    if field.kind == "choices":
        return [option.value for option in control.elements("option") if option.js.selected]
    return control.value


def _show_block(place: Element, block: Any) -> None:
    """Show a block of content: a text, a picture, or what else there is, by its name."""
    if not isinstance(block, Mapping):
        return
    kind, media, held = str(block.get("type")), str(block.get("mimeType", "")), block.get("resource")
    if kind == "text":
        _show_text(place, str(block.get("text")))
    elif kind == "image" and media.startswith("image/"):
        place.add("img", alt="A picture", src=f"data:{media};base64,{block.get('data')}")
    elif isinstance(held, Mapping) and isinstance(held.get("text"), str):
        _show_text(place, held["text"])
    else:
        about = held if isinstance(held, Mapping) else block
        names = (about.get(key) for key in ("title", "name", "uri", "mimeType"))
        place.add("p", next((name for name in names if isinstance(name, str) and name), kind))


def _show_text(place: Element, text: str) -> None:
    more = len(text) - _MOST_SHOWN
    place.add("pre", text if more <= 0 else f"{text[:_MOST_SHOWN]}\n… and {more:,} more characters.")


class PageForms:
    """The forms of a page for its server's tools: see `Dialect.form_module`."""

    def __init__(self, messages: Messages, serve: Serve, offered: Offering | None) -> None:
        """Connect to the server; see `OwnTools`."""
        self._tools = OwnTools(messages, serve, offered)
        self.close = self._tools.close

    async def add(self, page: Page, tool: str, into: str, *, autosubmit: bool) -> Element:
        """Put a form into a page; see `Page.tool_form`."""
        own = await self._tools.tool(tool)
        target = page.element(into)
        target.clear()  # another form for the tool there no longer declares it
        offered = self._tools.offered
        take_back = await offered.leave_to_form(tool) if offered else None
        try:
            form = ToolForm(page, self._tools, own, take_back, autosubmit=autosubmit)
            target.js.replaceChildren(form.box.js)
            page.forget_removed()
            form.begin()
        except BaseException:
            if take_back:
                take_back()
            raise
        return form.box
