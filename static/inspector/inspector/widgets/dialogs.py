"""Dialogs, and short messages that disappear by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Self

from mcpframe import Element, Page

_numbers = count(1)

CANCEL = "cancel"
"""The answer of Escape."""


class Dialog:
    """One dialog; leaving the `with` block removes it from the page.

    Attributes:
        body: the element for its content.
    """

    def __init__(self, page: Page, title: str, kind: str = "") -> None:
        """Add the dialog to the page, not shown yet.

        Args:
            title: its heading, and its accessible name.
            kind: a CSS class.
        """
        heading = f"insp-dialog-{next(_numbers)}"
        self._element = page.element("#insp-dialogs").add(
            "dialog", class_=f"insp-dialog {kind}".strip(), aria_labelledby=heading
        )
        self._head = self._element.add("div", class_="insp-dialog-head")
        self._head.add("h2", title, id=heading)
        self.body = self._element.add("div", class_="insp-dialog-body")
        self._buttons = self._element.add("div", class_="insp-dialog-buttons")
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._element.on("cancel", lambda: self.answer_with(CANCEL), prevent_default=True)

    def button(self, text: str, answer: str | Callable[[], object], *, main: bool = False) -> None:
        """Add a button.

        Args:
            text: its label.
            answer: its answer to the dialog, or a function to call.
            main: whether it is the primary button.
        """
        act = answer if callable(answer) else lambda: self.answer_with(str(answer))
        self._buttons.add("button", text, type="button", class_="main" if main else None).on("click", act)

    def form(self, submit: str) -> Element:
        """Add a form to the body, and its primary button, which Enter in its fields presses, too.

        Args:
            submit: the label of the button.
        """
        form = self.body.add("form", id=f"insp-dialog-form-{next(_numbers)}", novalidate=True)
        self._buttons.add("button", submit, type="submit", class_="main", form=form.get("id"))
        return form

    def closer(self, name: str) -> None:
        """Add a close button beside the heading, which answers like Escape: for a page with its own buttons.

        Args:
            name: its accessible name and tooltip.
        """
        button = self._head.add("button", "✕", type="button", class_="plain", aria_label=name, title=name)
        button.on("click", lambda: self.answer_with(CANCEL))

    def answer_with(self, answer: str) -> None:
        """Answer the dialog, unless it is answered already."""
        if not self._answer.done():
            self._answer.set_result(answer)

    @property
    def open(self) -> bool:
        return bool(self._element.js.open)

    def show(self) -> None:
        """Show the dialog; the focus is on the first control or page in its body, and not on its close button."""
        if not self.open:
            self._element.js.showModal()
            inside = self.body.js.querySelector("iframe, input, select, textarea, button")
            if inside:
                inside.focus()

    def hide(self) -> None:
        """Hide the dialog; a page in it keeps running."""
        if self.open:
            self._element.js.close()

    async def answered(self) -> str:
        """Wait for an answer."""
        return await asyncio.shield(self._answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        self._element.remove()


LASTING = 8.0
"""Seconds that a notice stays; the user may dismiss it earlier."""


class Toasts:
    """The notices of the page."""

    def __init__(self, page: Page) -> None:
        """Show notices in an element of the page: a live region has to exist before its content."""
        self._place = page.element("#insp-toasts")
        self._page = page

    def show(self, text: str) -> None:
        """Show a notice."""
        toast = self._place.add("div", class_="insp-toast")
        toast.add("span", text)
        toast.add("button", "Dismiss", type="button", class_="plain").on("click", lambda: toast.remove())
        self._page.run(lambda: self._remove(toast), "A notice")

    async def _remove(self, toast: Element) -> None:
        await asyncio.sleep(LASTING)
        toast.remove()
