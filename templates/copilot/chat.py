"""The chat in the page. Messages are shown as text, never as HTML: they are not trusted."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from mcpframe import Page
from rules import SUGGESTIONS

Speaker = Literal["you", "copilot", "problem", "notice"]
Ask = Callable[[str], Awaitable[None]]

_SPEAKERS: dict[Speaker, str] = {"you": "You", "copilot": "Copilot", "problem": "Copilot", "notice": "Dashboard"}
MOST_MESSAGES = 200
"""How many messages are kept in the page; older ones are removed."""


class Chat:
    """The conversation, its form and its suggestions."""

    def __init__(self, page: Page, ask: Ask) -> None:
        """Use a page that shows `chat.html`.

        Args:
            page: the page.
            ask: called with each question, one at a time.
        """
        self._page = page
        self._ask = ask
        self._busy = False
        self._open = False
        place = page.element("#suggestions")
        for suggestion in SUGGESTIONS:
            place.add("button", suggestion, type="button").on("click", lambda asked=suggestion: self._send(asked))
        page.element("#form").on("submit", self._submit)
        self._allow()

    def open(self, status: str) -> None:
        """Enable questions."""
        self._open = True
        self._stand(status)

    def close(self, status: str, *, bad: bool = True, again: bool = True) -> None:
        """Disable questions.

        Args:
            status: the reason.
            bad: whether something is wrong.
            again: whether to offer the user to connect again.
        """
        self._open = False
        self._stand(status, bad=bad, again=again)

    async def wanted_again(self) -> None:
        """Wait until the user asks to connect again."""
        await self._page.element("#again").event("click")

    def show_alone(self) -> None:
        """Explain the page to a user who has opened it outside of a frame."""
        self.close("There is no page around me.", bad=False, again=False)
        self._page.element("#alone").hidden = False
        self._page.element("#chat").hidden = True

    def say(self, speaker: Speaker, lines: Sequence[str], call: tuple[str, dict[str, Any]] | None = None) -> None:
        """Add a message: a sentence, followed by the items of a list.

        Args:
            speaker: who sent it.
            lines: the text.
            call: the tool that was called for it, with its arguments.
        """
        log = self._page.element("#log")
        message = log.add("div", class_=f"message {speaker}")
        message.add("span", f"{_SPEAKERS[speaker]}: ", class_="speaker")
        first, *rest = lines
        message.add("p", first)
        if rest:
            items = message.add("ul")
            for line in rest:
                items.add("li", line)
        if call:
            name, arguments = call
            given = json.dumps(arguments, ensure_ascii=False) if arguments else ""
            message.add("p", "Called ", class_="call").add("code", f"{name}({given})")
        for old in log.elements(".message")[:-MOST_MESSAGES]:
            old.remove()
        log.js.scrollTop = log.js.scrollHeight

    def _stand(self, status: str, *, bad: bool = False, again: bool = False) -> None:
        place = self._page.element("#status")
        place.text = status
        place.classes.set("bad", bad)
        self._page.element("#again").hidden = not again
        self._allow()

    def _allow(self) -> None:
        off = self._busy or not self._open
        for button in self._page.elements("#suggestions button, #send"):
            button.disabled = off
        self._page.element("#log").set("aria-busy", "true" if self._busy else "false")

    async def _submit(self) -> None:
        field = self._page.element("#question")
        question = field.value.strip()
        if question and not self._busy and self._open:
            field.value = ""
            await self._send(question)

    async def _send(self, question: str) -> None:
        if self._busy or not self._open:
            return
        self._busy = True
        self._allow()
        try:
            await self._ask(question)
        finally:
            self._busy = False
            self._allow()
            self._page.element("#question").focus()
