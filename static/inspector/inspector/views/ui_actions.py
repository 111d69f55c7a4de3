"""The actions of a page of mcp-ui: the inspector lists and answers them.

A call of a tool, an intent and a request for data wait for the user, who may answer with a value, with an error or by
calling the named tool; with the setting "Call the tool" such calls do not wait. A link waits for the user to open it.
A prompt and a notice are only shown. No action waits for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

from inspector.forms.json_values import NotJson, read_json
from inspector.results.media import web_address
from inspector.results.tree import folded_tree
from inspector.session.telling import sentence
from inspector.views.activity import Activity
from inspector.wire.entry import shown
from mcpframe import Element, Page, errors
from mcpframe.hosts import UiAction

Json = Mapping[str, Any]
Call = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

_KINDS: Final = {
    "tool": ("Tool", "toolName"),
    "intent": ("Intent", "intent"),
    "prompt": ("Prompt", "prompt"),
    "notify": ("Notice", "message"),
    "link": ("Link", "url"),
    "ui-request-data": ("Request for data", "requestType"),
}
"""The kinds of actions: their visible names, and the member of the payload with the request."""
_WAITING: Final = ("tool", "intent", "ui-request-data")


class Answering(Protocol):
    """The user's settings for answers."""

    @property
    def calls_tools(self) -> bool:
        """Whether the page's tool calls go to the server without a question to the user."""

    @property
    def patience(self) -> float:
        """Seconds that an action waits for its answer."""


class UiActions:
    """The actions of one page: `UiHost(on_action=actions.handle)`."""

    def __init__(self, page: Page, activity: Activity, choices: Answering, call: Call) -> None:
        """Handle actions.

        Args:
            activity: the list of the actions.
            choices: the user's settings.
            call: calls a tool of the server, and returns its result on the wire.
        """
        self._page = page
        self._activity = activity
        self._choices = choices
        self._call = call

    async def handle(self, action: UiAction) -> Any:
        """Return the answer to an action.

        Raises:
            UiError: the error for the page.
        """
        name, member = _KINDS[action.kind]
        entry = self._activity.note(name, shown(str(action.payload.get(member) or "")))
        if entry is None:
            raise errors.UiError("The inspector takes no more actions for a moment: there were too many at once.")
        line = _Line(self._page, entry, name, action)
        patience = self._choices.patience
        try:
            async with asyncio.timeout(patience) as deadline:
                answer = await self._answer(action, line)
        except asyncio.CancelledError:
            line.become("failed", "Not answered: the page was removed")
            raise
        except Exception as error:  # noqa: BLE001  any failure of a call is the page's answer
            reason = f"There was no answer within {patience:g} s." if deadline.expired() else sentence(error)
            how = "Timed out" if deadline.expired() else "Answered with an error" if line.waits else "Failed"
            line.become("failed", f"{how}: {reason}")
            raise errors.UiError(reason) from None
        line.become("answered", "Answered" if line.waits else "No answer is waited for", answer)
        return answer

    async def _answer(self, action: UiAction, line: _Line) -> Any:
        if action.kind == "link":
            return await self._open_link(str(action.payload["url"]), line)
        if action.kind == "tool" and self._choices.calls_tools:
            line.become("waiting", "Calling the tool …")
            return await self._call_named(action)
        if action.kind not in _WAITING or not line.waits:
            return None
        line.become("waiting", "Acknowledged, waits for your answer")
        typed = line.by_hand()
        self._activity.follow()
        answer = await typed
        if answer is _CALL:
            line.become("waiting", "Calling the tool …")
            return await self._call_named(action)
        return answer

    async def _call_named(self, action: UiAction) -> dict[str, Any]:
        return await self._call(str(action.payload["toolName"]), dict(action.payload.get("params") or {}))

    async def _open_link(self, url: str, line: _Line) -> None:
        address = web_address(url)
        if address is None:
            raise errors.UiError("The inspector opens only http and https links.")
        if line.waits:
            line.become("waiting", "Acknowledged, waits for you to open it")
        opened = line.offer_link(lambda: self._page.js.defaultView.open(address, "_blank", "noopener,noreferrer"))
        self._activity.follow()
        if line.waits:
            await opened


_CALL: Final = object()
"""The user's answer that the named tool is to be called."""


class _Line:
    """An action in the list.

    Attributes:
        waits: whether the page waits for an answer.
    """

    def __init__(self, page: Page, entry: Element, name: str, action: UiAction) -> None:
        self.waits = action.id is not None
        self._page = page
        self._entry = entry
        self._name = name
        self._action = action
        self._state = entry.add("span", class_="insp-action-state quiet")
        folded_tree(page, entry.add("div"), "Payload", dict(action.payload))
        self._form: Element | None = None

    def become(self, state: str, text: str, answer: Any = None) -> None:
        """Show a state: "waiting", "answered" or "failed"; and the answer, if any."""
        self._entry.set("data-state", state)
        self._state.text = shown(text)
        if self._form is not None:
            had_focus = bool(self._form.js.contains(self._page.js.activeElement))
            self._form.remove()
            self._form = None
            if had_focus:
                self._entry.set("tabindex", "-1")
                self._entry.focus()
        if answer is not None:
            folded_tree(self._page, self._entry.add("div"), "Answer", answer)

    def by_hand(self) -> asyncio.Future[Any]:
        """Return the user's answer, or `_CALL`. An error from the user is raised."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        what = f"{self._name} {shown(str(self._action.payload.get(_KINDS[self._action.kind][1])))}"
        self._form = form = self._entry.add(
            "form", class_="insp-answer", novalidate=True, aria_label=f"Answer to {what}"
        )
        text = form.add("textarea", rows="2", spellcheck="false", aria_label="Answer", placeholder="JSON, or a text")
        problem = form.add("p", role="alert", class_="insp-problem", hidden=True)
        row = form.add("div", class_="insp-row")
        row.add("button", "Answer", type="submit", class_="main small")
        refuse = row.add("button", "Answer with an error", type="button", class_="small")

        def give() -> None:
            try:
                value = read_answer(text.value)
            except NotJson as error:
                problem.text, problem.hidden = f"The answer {error}.", False
                text.set("aria-invalid", "true")
                text.focus()
                return
            _settle(answer, value)

        form.on("submit", give)
        refuse.on("click", lambda: _fail(answer, text.value.strip() or "The user answered with an error."))
        if self._action.kind == "tool":
            call = row.add("button", "Call the tool", type="button", class_="small")
            call.on("click", lambda: _settle(answer, _CALL))
        return answer

    def offer_link(self, open_it: Callable[[], object]) -> asyncio.Future[None]:
        """Show a button that opens the link, and return a future that is done once it was pressed."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        row = self._entry.add("div", class_="insp-row")

        def open_now() -> None:
            open_it()
            _settle(opened, None)

        row.add("button", "Open it", type="button", class_="small").on("click", open_now)
        if self.waits:
            self._form = row
            decline = row.add("button", "Decline", type="button", class_="small")
            decline.on("click", lambda: _fail(opened, "The user declined to open the link."))
        return opened


def read_answer(text: str) -> Any:
    """Return the value of a typed answer: a JSON value, or the text itself; None for an empty one.

    Raises:
        NotJson: the text begins like an object or an array, but is not JSON.
    """
    if not text.strip():
        return None
    try:
        return read_json(text)
    except NotJson:
        if text.lstrip()[0] in "{[":
            raise
        return text


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], reason: str) -> None:
    if not future.done():
        future.set_exception(errors.UiError(reason))
