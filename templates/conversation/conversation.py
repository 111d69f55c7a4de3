"""The page: the conversation with its calls, what the model would know, and questions to the user."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from arguments import Field
from mcpframe import Element, Page


class Conversation:
    """Everything on the page except the views in it."""

    def __init__(self, page: Page) -> None:
        """Use a page that shows `conversation.html`."""
        self._page = page
        self._entries = page.element("#entries")
        self._known: dict[object, str] = {}

    def say(self, text: str, *, who: str = "user") -> Element:
        """Add a message. Returns it."""
        entry = self._entries.add("li", class_=f"message {who}")
        entry.add("p", text)
        self._scroll_to(entry)
        return entry

    def add_call(self, name: str, arguments: Mapping[str, Any]) -> Element:
        """Add a call of a tool, with a place for its view. Returns the entry."""
        entry = self._entries.add("li", class_="call")
        heading = entry.add("header")
        heading.add("code", f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())})")
        heading.add("button", "Remove", type="button", class_="plain", aria_label=f"Remove the view of {name}")
        entry.add("div", class_="place")
        entry.add("p", class_="quiet", role="status")
        self._scroll_to(entry)
        return entry

    def know(self, call: object, text: str) -> None:
        """Show what the view of a call tells the model, in place of what it said before; an empty text removes it."""
        self._known.pop(call, None)
        if text:
            self._known[call] = text
        place = self._page.element("#known")
        place.clear()
        for known in self._known.values():
            place.add("li", known)
        self._page.element("#known-none").hidden = bool(self._known)

    def show_form(self, title: str, fields: Sequence[Field]) -> None:
        """Show the fields of a tool's arguments."""
        self._page.element("#tool-title").text = title
        place = self._page.element("#fields")
        place.clear()
        for field in fields:
            label = place.add("label")
            label.add("span", field.label)
            label.add(
                "input", name=field.name, type=field.kind, value=field.initial, required=field.required, step="any"
            )

    def values(self) -> dict[str, str]:
        """Return what the user has entered, by field."""
        return {field.get("name") or "": field.value for field in self._page.elements("#fields input")}

    def set_standing(self, text: str, *, bad: bool = False, ready: bool = False) -> None:
        """Show the state of the connection, and whether tools can be called."""
        standing = self._page.element("#standing")
        standing.text = text
        standing.classes.set("bad", bad)
        self._page.element("#call").disabled = not ready

    async def ask(self, question: str, detail: str, yes: str) -> bool:
        """Ask the user, below the conversation. Questions of several views wait for each other.

        Args:
            question: What is asked.
            detail: What it is about, such as an address; it comes from a view, which nobody has checked.
            yes: The name of the button that allows it.

        Returns:
            Whether the user allows it.
        """
        place = self._page.element("#questions")
        asked = place.add("li", class_="question")
        asked.add("p", question)
        asked.add("code", detail)
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def settle(allowed: bool) -> None:
            if not answer.done():
                answer.set_result(allowed)

        buttons = asked.add("p", class_="buttons")
        buttons.add("button", yes, type="button").on("click", lambda: settle(True))
        buttons.add("button", "Decline", type="button", class_="plain").on("click", lambda: settle(False))
        try:
            return await answer
        finally:
            asked.remove()

    def _scroll_to(self, entry: Element) -> None:
        entry.js.scrollIntoView(block="end")
