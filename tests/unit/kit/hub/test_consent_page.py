"""Asking for consent: what is remembered, what is shown, and what no answer means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from mcpframe.hub.core.consent import Consent, question
from mcpframe.hub.core.interfaces import UNNAMED, Caller, CallRequest
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.hub.consent_page import BrowserAsks


def request(
    tool: str = "add", origin: str = "https://shop.example", client: Caller = UNNAMED, **arguments: Any
) -> CallRequest:
    return CallRequest(1, origin, tool, arguments, client)


class Answers:
    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.questions: list[Mapping[str, Any]] = []
        self.at_once = 0
        self.most_at_once = 0

    async def __call__(self, question: Mapping[str, Any]) -> str:
        self.questions.append(question)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("answer", "allowed", "asked_for_the_same", "asked_for_another_tool"),
    [("once", True, 1, 1), ("tool", True, 0, 1), ("origin", True, 0, 0), ("deny", False, 1, 1), ("?", False, 1, 1)],
)
async def test_what_an_answer_means(
    answer: str, allowed: bool, asked_for_the_same: int, asked_for_another_tool: int
) -> None:
    asks = Answers(answer, *["deny"] * 4)
    consent = Consent(asks)
    assert await consent(request(a=1)) is allowed
    assert await consent(request(a=2)) is not asked_for_the_same
    assert len(asks.questions) == 1 + asked_for_the_same
    asks.questions.clear()
    await consent(request("other"))
    assert len(asks.questions) == asked_for_another_tool
    asks.questions.clear()
    assert not await consent(request(origin="http://shop.example"))
    assert len(asks.questions) == 1
    asks.questions.clear()
    assert not await consent(request(client=Caller("https://chat.example")))  # what one client may is for none else
    assert len(asks.questions) == 1


async def test_one_question_at_a_time_and_none_that_has_been_answered_meanwhile() -> None:
    asks = Answers("origin", "deny")
    consent = Consent(asks)
    answers = await asyncio.gather(*(consent(request(f"t{n}")) for n in range(5)))
    assert answers == [True] * 5
    assert len(asks.questions) == 1
    assert asks.most_at_once == 1


async def test_no_answer_is_no_and_the_next_question_is_asked() -> None:
    class Silent(Answers):
        async def __call__(self, question: Mapping[str, Any]) -> str:
            if self.answers:
                return self.answers.pop()
            await asyncio.Event().wait()
            raise AssertionError

    asks = Silent()
    consent = Consent(asks, seconds=0.02)
    assert await asyncio.gather(consent(request()), consent(request("b"))) == [False, False]
    asks.answers.append("once")
    assert await consent(request())


def test_what_is_shown_misleads_nobody() -> None:
    shown = question(request("a\u202eb", text="x\u202ey\x1b[31m", more="\u2028"))
    assert shown["tool"] == "a\\u202eb"
    assert not set(shown["text"]) & set("\u202e\x1b\u2028")
    assert question(request("ad\u200bd", text="a\ufeff\U000e0041"))["tool"] == "ad\\u200bd"
    assert "a\\ufeff\\U000e0041" in question(request(text="a\ufeff\U000e0041"))["text"]
    assert len(question(request(text="x" * 100_000))["text"]) < 30_000
    named = question(request(client=Caller("https://chat.example", "Your\u202e\nbank\u200b" + "x" * 900)))
    assert named["client"] == "https://chat.example"
    assert named["name"].startswith("Your\\u202e bank\\u200bxx")
    assert len(named["name"]) < 200
    assert json.loads(question(request(a=[1, {"b": None}]))["text"]) == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    ("origin", "shown"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example:8443", "https://shop.example:8443 (shop.example in names)"),
        ("http://127.0.0.1:8790", "http://127.0.0.1:8790 (localhost:8790 in names)"),
        ("http://localhost:8790", "http://localhost:8790"),
    ],
)
def test_a_page_is_shown_with_its_origin_and_as_names_have_it(origin: str, shown: str) -> None:
    assert question(request(origin=origin))["origin"] == shown


class Tabs:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.shown: list[str] = []
        self.closed = 0
        self.held = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        self.held = True
        yield
        self.held = False

    async def new_page(self, **options: Any) -> Tabs:
        assert self.held
        assert options["newWindow"]
        return self

    def close(self, page: Any) -> None:
        self.closed += 1

    async def show(self, html: str, expression: str) -> Any:
        self.shown += [html, expression]
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_the_page_has_nothing_of_the_question_but_text() -> None:
    tabs = Tabs("once")
    evil = "</script><script>alert(1)</script>\u2028"
    assert await BrowserAsks(tabs)(question(request(text=evil))) == "once"
    html, expression = tabs.shown
    assert "alert" not in html
    assert "default-src 'none'" in html
    assert expression.isascii()
    assert tabs.closed == 1
    assert not tabs.held


async def test_a_window_that_is_closed_is_a_no() -> None:
    tabs = Tabs(BrowserGone("The page was closed."))
    assert await BrowserAsks(tabs)(question(request())) == "deny"
    assert tabs.closed == 1
