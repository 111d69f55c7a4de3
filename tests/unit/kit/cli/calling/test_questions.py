"""`mcpframe call` answers a tool's questions: with --answer, then by the user of its terminal."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.cli.calling import questions as module
from mcpframe.kit.cli.calling.call_deadline import call_deadline
from mcpframe.kit.cli.calling.questions import Questions, answer

URL = "https://pay.example/bill?of=7"
SEATS = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "minimum": 1, "maximum": 6, "description": "How many?"},
        "class": {"type": "string", "enum": ["1", "2"], "enumNames": ["first", "second"], "default": "2"},
        "window": {"type": "boolean", "title": "At the window"},
        "food": {"type": "array", "items": {"anyOf": [{"const": "m", "title": "meat"}, {"const": "v"}]}},
    },
    "required": ["seats", "class"],
}


class Typed(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Returns a function that sets what the user of a terminal types."""

    def types_in(text: str) -> None:
        monkeypatch.setattr(module, "can_ask", lambda: True)
        monkeypatch.setattr("sys.stdin", Typed(text))

    return types_in


async def ask(questions: Questions, schema: Mapping[str, Any] | None) -> types.ElicitResult:
    """Let a tool ask: for an address without a schema."""
    server = MCPServer("train")
    heard: list[types.ElicitResult] = []

    @server.tool()
    async def book(ctx: Context) -> None:
        if schema is None:
            heard.append(await ctx.session.elicit_url("Pay", URL, "7"))
        else:
            heard.append(await ctx.session.elicit_form("Which\x1b[2J seats?", dict(schema)))

    async with Client(server, mode="legacy", elicitation_callback=questions.callback) as client:
        result = await client.call_tool("book", {})
    assert not result.is_error, result.content
    (only,) = heard
    return only


async def test_answers_that_were_given_before() -> None:
    questions = Questions("here", {"seats": "2", "class": "first", "window": "yes", "food": "meat, v", "extra": ""})
    result = await ask(questions, SEATS)
    assert (result.action, result.content) == (
        "accept",
        {"seats": 2, "class": "1", "window": True, "food": ["m", "v"]},
    )
    assert questions.unused == ["extra"]
    questions.check()


@pytest.mark.parametrize(
    ("answers", "named"),
    [
        ({"window": "yes"}, ["--answer seats=… --answer class=…", "Which"]),
        ({"seats": "2"}, ["--answer class=…"]),
        ({"other": "2"}, ["--answer seats=…"]),
        ({"seats": "7"}, ["seats", "6"]),
        ({"seats": "x"}, ["seats", "integer"]),
        ({"class": "third"}, ["class", "first, second"]),
        ({"food": "m,fish"}, ["food", "fish"]),
    ],
)
async def test_without_a_terminal_what_is_missing_is_an_error(answers: dict[str, str], named: list[str]) -> None:
    questions = Questions("here", answers)
    assert (await ask(questions, SEATS)).action == "cancel"
    with pytest.raises(CallError) as caught:
        questions.check()
    assert all(each in str(caught.value) for each in named)


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {}}])
async def test_consent_is_only_given_on_a_terminal(schema: Mapping[str, Any] | None) -> None:
    questions = Questions("here", {"seats": "2"})
    assert (await ask(questions, schema)).action == "cancel"
    with pytest.raises(CallError, match="terminal"):
        questions.check()


async def test_a_server_does_not_ask_where_nobody_answers() -> None:
    assert Questions("here", {}).callback is None


def test_the_error_of_a_server_that_could_not_ask_has_advice() -> None:
    assert "--answer" in Questions("here", {}).advice("Elicitation not supported")
    assert Questions("here", {}).advice("out of seats") == ""
    for text in ("has not declared the capability sampling", "Sampling not supported", "the capability roots"):
        assert "mcpframe inspect" in Questions("here", {"seats": "2"}).advice(text)
    assert Questions("here", {"seats": "2"}).advice("Elicitation not supported") == ""


async def test_the_user_is_asked_for_what_is_left(
    typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("first\n\nv\n")
    cleared: list[bool] = []
    questions = Questions("https://train.example/", {"seats": "2"}, lambda: cleared.append(True))
    result = await ask(questions, SEATS)
    assert result.content == {"seats": 2, "class": "1", "food": ["v"]}
    assert cleared == [True]
    shown = capsys.readouterr().err
    assert "https://train.example/ asks: Which" in shown
    assert "\x1b" not in shown
    assert all(each in shown for each in ("At the window", "yes or no", "first, second", "default 2"))
    assert "How many?" not in shown


async def test_a_wrong_answer_is_asked_again(typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    typed("none\n7\n6\n\nyes\n\n")
    result = await ask(Questions("here", {}), SEATS)
    assert result.content == {"seats": 6, "class": "2", "window": True}
    assert capsys.readouterr().err.count("How many?") == 3


@pytest.mark.parametrize("schema", [SEATS, None, {"type": "object", "properties": {}}])
async def test_the_end_of_the_input_declines(typed: Callable[[str], None], schema: Mapping[str, Any] | None) -> None:
    typed("")
    assert (await ask(Questions("here", {}), schema)).action == "decline"


async def test_an_address_is_shown_and_not_opened(
    typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("\n")
    assert (await ask(Questions("here", {}), None)).action == "accept"
    assert URL in capsys.readouterr().err


async def test_a_call_s_time_stands_still_while_its_user_is_asked(
    typed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed("\n")
    questions = Questions("here", {})
    now = 0.0  # only the user takes time here: a busy machine is no deadline
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    asked = []

    async def asking() -> None:
        nonlocal now
        async with call_deadline(5, CallError("late")) as pause:

            @contextmanager
            def thinking() -> Iterator[None]:
                nonlocal now
                with pause():
                    now += 10
                    yield

            questions.pause = thinking
            await ask(questions, None)
            await asyncio.sleep(0)  # an expired deadline would end the block here
            asked.append(True)
            now += 5
            await asyncio.Event().wait()

    with pytest.raises(CallError, match="late"):
        await asking()
    assert asked


TEXT = "a" * 80 + "b"
ODD: dict[str, tuple[Any, Any]] = {
    "no object": (7, TEXT),
    "a pattern that would be tried for years": ({"type": "string", "pattern": "^(a|a)*$"}, TEXT),
    "a reference": ({"$ref": "https://evil.example/schema"}, TEXT),
    "a reference of an item": ({"type": "array", "items": {"$ref": "https://evil.example/schema"}}, [TEXT]),
    "items": ({"type": "array", "items": 7}, [TEXT]),
    "options": ({"type": "string", "oneOf": 7, "anyOf": [7, {}], "enum": {"a": 1}, "enumNames": 7}, TEXT),
    "rules": ({"type": "string", "minLength": "many", "format": 7}, TEXT),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_schemas(name: str) -> None:
    schema, value = ODD[name]
    assert answer("a", TEXT, {"properties": {"a": schema}}) == value
