"""The actions of a page in the inspector: how they are listed, and what answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from inspector.forms.json_values import NotJson
from inspector.views import activity
from inspector.views.activity import MOST, Activity
from inspector.views.ui_actions import UiActions, read_answer
from mcpframe.frame.core.errors import UiError
from mcpframe.frame.hosting.mcp_ui.host import UiAction
from mcpframe.frame.page.session_page import Page
from mcpframe.frame.storage.values import Storage
from mcpframe.frame.waiting.token_bucket import TokenBucket
from tests.support.fake_page import FakeBrowser, FakeElement


@dataclass
class Chosen:
    calls_tools: bool = False
    patience: float = 20.0


class Listed:
    """A list of actions in a page."""

    def __init__(self, call: Callable[[str, dict[str, Any]], Awaitable[Any]] | None = None) -> None:
        self.browser = FakeBrowser()
        self.opened: list[str] = []
        self.called: list[Any] = []
        document: Any = self.browser.document
        document.defaultView = SimpleNamespace(open=lambda url, *_: self.opened.append(url))
        document.activeElement = None
        page = Page(self.browser, storage=Storage("inspector"), on_error=lambda title, _: pytest.fail(title))

        async def note(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            self.called.append((name, arguments))
            return {"content": []}

        self.choices = Chosen()
        self.activity = Activity(page, page.element("#mcpframe-app"), name="Actions")
        self.actions = UiActions(page, self.activity, self.choices, call or note)

    @property
    def entries(self) -> list[FakeElement]:
        found: list[FakeElement] = self.browser.document.documentElement.querySelectorAll("li")
        return found

    @property
    def states(self) -> list[tuple[str | None, str]]:
        """The state of each entry, and its text."""
        return [
            (entry.getAttribute("data-state"), entry.querySelector(".insp-action-state").textContent)  # type: ignore[union-attr]
            for entry in self.entries
        ]

    def begin(self, kind: str, id_: str | None = "1", **payload: Any) -> asyncio.Task[Any]:
        return asyncio.ensure_future(self.actions.handle(UiAction(kind, payload, id_)))

    async def press(self, name: str) -> None:
        """Press the button of the last entry."""
        await anyio.wait_all_tasks_blocked()
        button = next(each for each in self.entries[-1].querySelectorAll("button") if each.textContent == name)
        number = self.browser.document.documentElement.querySelectorAll("button").index(button)
        button.setAttribute("id", f"pressed-{number}")
        kind = "submit" if button.getAttribute("type") == "submit" else "click"
        self.browser.happen("form" if kind == "submit" else f"#pressed-{number}", kind)

    async def write(self, text: str) -> None:
        """Write an answer."""
        await anyio.wait_all_tasks_blocked()
        area = self.entries[-1].querySelector("textarea")
        assert area is not None
        area.value = text


TOOL: dict[str, Any] = {"toolName": "add", "params": {"a": 1}}


async def test_an_answer_by_hand() -> None:
    listed = Listed()
    asked = listed.begin("tool", **TOOL)
    await listed.write('{"content": [')
    await listed.press("Answer")
    assert listed.states == [("waiting", "Acknowledged, waits for your answer")]
    assert "is not JSON" in listed.entries[0].textContent
    await listed.write('{"content": []}')
    await listed.press("Answer")
    assert await asked == {"content": []}
    assert listed.states == [("answered", "Answered")]
    assert listed.entries[0].querySelectorAll("form") == []
    assert listed.called == []


async def test_an_error_by_hand() -> None:
    listed = Listed()
    asked = listed.begin("intent", intent="go")
    await listed.write(" not today ")
    await listed.press("Answer with an error")
    with pytest.raises(UiError, match=r"^not today$"):
        await asked
    assert listed.states == [("failed", "Answered with an error: not today")]


async def test_the_named_tool_is_called() -> None:
    listed = Listed()
    asked = listed.begin("tool", **TOOL)
    await listed.press("Call the tool")
    assert await asked == {"content": []}
    listed.choices.calls_tools = True
    assert await listed.begin("tool", None, toolName="clear", params=None) == {"content": []}
    assert listed.called == [("add", {"a": 1}), ("clear", {})]
    assert listed.states == [("answered", "Answered"), ("answered", "No answer is waited for")]


async def test_a_tool_that_fails_or_never_answers() -> None:
    async def fails(name: str, _: Any) -> Any:
        if name == "never":
            await asyncio.Event().wait()
        raise LookupError("no such tool")

    listed = Listed(fails)
    listed.choices.calls_tools = True
    with pytest.raises(UiError, match="LookupError: no such tool"):
        await listed.begin("tool", toolName="x")
    listed.choices.patience = 0.01
    for kind, payload in (
        ("tool", {"toolName": "never"}),
        ("intent", {"intent": "go"}),
        ("link", {"url": "https://a.example/"}),
    ):
        with pytest.raises(UiError, match=r"no answer within 0.01 s"):
            await listed.begin(kind, **payload)
        state, text = listed.states[-1]
        assert (state, text.startswith("Timed out")) == ("failed", True)
        assert listed.entries[-1].querySelectorAll("form") == []


async def test_what_is_only_shown() -> None:
    listed = Listed()
    assert await listed.begin("prompt", prompt="<b>Hi") is None
    assert await listed.begin("notify", None, message="done \ud800") is None
    assert await listed.begin("intent", None, intent="go") is None
    assert [state for state, _ in listed.states] == ["answered"] * 3
    assert "<b>Hi" in listed.entries[0].textContent


async def test_a_link_is_opened_by_the_user_alone() -> None:
    listed = Listed()
    asked = listed.begin("link", url="https://a.example/")
    await anyio.wait_all_tasks_blocked()
    assert listed.opened == []
    await listed.press("Open it")
    assert await asked is None
    asked = listed.begin("link", url="https://a.example/")
    await listed.press("Decline")
    with pytest.raises(UiError, match="declined"):
        await asked
    for url in ("mailto:ada@a.example", "javascript:alert(1)", "https://a.example/\n"):
        with pytest.raises(UiError, match="only http"):
            await listed.begin("link", url=url)
    await listed.begin("link", None, url="https://b.example/")
    assert listed.opened == ["https://a.example/"]
    await listed.press("Open it")
    assert listed.opened == ["https://a.example/", "https://b.example/"]


async def test_a_page_that_is_removed() -> None:
    listed = Listed()
    asked = listed.begin("intent", intent="go")
    await anyio.wait_all_tasks_blocked()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert listed.states == [("failed", "Not answered: the page was removed")]


async def test_a_flood_is_counted_and_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(activity, "TokenBucket", lambda burst, rate, _: TokenBucket(burst, rate, lambda: now[0]))
    listed = Listed()
    for number in range(activity.BURST):
        await listed.begin("prompt", prompt=str(number))
    for _ in range(1234):
        with pytest.raises(UiError, match="too many"):
            await listed.begin("prompt", prompt="more")
    assert len(listed.entries) == activity.BURST + 1
    assert listed.entries[-1].textContent == "1,234 more came too fast to be listed."
    now[0] += 1
    for number in range(3 * MOST):
        now[0] += 1
        await listed.begin("prompt", prompt=str(number))
    assert len(listed.entries) == MOST


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        (" ", None),
        ("null", None),
        ('{"a": [1]}', {"a": [1]}),
        ("7", 7),
        ('"7"', "7"),
        ("Not today", "Not today"),
    ],
)
def test_an_answer_is_json_or_a_text(text: str, value: Any) -> None:
    assert read_answer(text) == value


@pytest.mark.parametrize("text", ["{", ' ["a",]', "{}{}"])
def test_what_begins_as_json_must_be_json(text: str) -> None:
    with pytest.raises(NotJson):
        read_answer(text)
