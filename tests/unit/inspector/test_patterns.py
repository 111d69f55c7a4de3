"""Patterns of schemas: as ECMA-262 has them, in linear time, and never more than a moment allows."""

from __future__ import annotations

import re
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator, _keywords, _legacy_keywords, _utils
from mcp import Client
from mcp.server.lowlevel import Server

import patterns
from patterns import matches
from result_schemas import limit_patterns
from schema import fields_of


@pytest.fixture(autouse=True)
def _plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has all steps that a moment allows."""
    monkeypatch.setattr(patterns, "_allowance", patterns._Allowance())


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        ("", ["", "a"], []),
        ("b", ["b", "abc"], ["", "ac"]),
        ("^a+$", ["a", "aaa"], ["", "a\n", "ba"]),
        ("^(a|bc)*?d?$", ["", "abcd", "d"], ["b", "dd"]),
        ("^.$", ["a", "\N{GRINNING FACE}", "\v"], ["\n", "\u2028", ""]),
        (r"^\d{3}-\d{4}$", ["555-1234"], ["٣٣٣-1234", "555-123"]),
        ("^a{2}$", ["aa"], ["a", "aaa"]),
        ("^a{2,}$", ["aa", "aaaa"], ["a"]),
        ("^a{1,3}$", ["a", "aaa"], ["", "aaaa"]),
        ("^a{0}$", [""], ["a"]),
        (r"^[a-c\d_-]+$", ["a-1_"], ["d", ""]),
        ("^[^a-c]$", ["d", "\n"], ["a"]),
        ("^[]$", [], ["", "a"]),
        ("^[^]$", ["\n"], [""]),
        (r"^[\]\\^.]+$", ["]\\^."], ["a"]),
        (r"^\w\W\s\S$", ["a- b"], ["ä- b", "a-bb"]),
        (r"^\s$", ["\ufeff", "\xa0"], ["\x1c"]),
        (r"\bcat\b", ["a cat.", "cat"], ["concat"]),
        (r"^a\Ba", ["aa"], ["a a"]),
        (r"^\x41\u0042\u{43}\cJ\0$", ["ABC\n\0"], ["ABC"]),
        (r"^\p{Lu}\P{L}$", ["Ä1"], ["ä1", "ÄÄ"]),
        (r"^(?<year>\d{4})$", ["2026"], ["26"]),
        (r"^(?P<year>\d{4})(?:x)$", ["2026x"], ["26"]),
        (r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$", ["1.5", "-2"], ["-", "+.", "x"]),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", ["abc1", "1zzz"], ["abcd", "1234", "a1"]),
        (r"^\/\.\-\@$", ["/.-@"], ["x"]),
    ],
)
def test_what_matches(pattern: str, right: list[str], wrong: list[str]) -> None:
    for text, expected in [*((text, True) for text in right), *((text, False) for text in wrong)]:
        assert matches(pattern, text) is expected, text


@pytest.mark.parametrize(
    "pattern",
    [
        *("(", ")", "a)", "[", "[b-a]", "*", "a**", "a{2,1}", "{1}", "\\", r"[a-\d]", r"\Aa", r"\u{110000}", r"\01"),
        *(r"(a)\1", r"\k<a>", "(?<=a)b", "(?<!a)b", "(?i)a", "(?i:a)", r"\p{Script=Greek}"),
        *("(" * 100 + ")" * 100, "x" * 1001, "(x{100}){100}", "((){1000}){1000}", "a{999999}"),
    ],
)
def test_what_is_not_known_is_not_tried(pattern: str) -> None:
    assert matches(pattern, "a") is None


atoms = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "^", "$", r"\b"])
expressions = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
        | inner.map("(?={})".format)
        | inner.map("(?!{})".format)
    ),
    max_leaves=6,
)


@given(expressions, st.text("ab", max_size=5))
def test_it_finds_what_a_backtracking_engine_finds(pattern: str, text: str) -> None:
    patterns._allowance = patterns._Allowance()
    assert matches(pattern, text) is bool(re.search(pattern.replace("$", r"\Z"), text))


@given(st.text(max_size=30), st.text(max_size=5))
def test_any_text_may_be_a_pattern(pattern: str, text: str) -> None:
    patterns._allowance = patterns._Allowance()
    assert matches(pattern, text) in (True, False, None)


class Clock:
    """A clock that is set."""

    time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_character_costs_no_more_than_the_pattern_has_states() -> None:
    for pattern in ("a?" * 40 + "b$", "(a*)*b", "(a|a|a)*b", "(?:(?:a{1,9})){9}b"):
        _, size = patterns._compiled(pattern)
        run = patterns._Run("a" * 200, 10**9)
        assert run.finds(patterns._compiled(pattern)[0]) is False
        assert 10**9 - run.left <= (size + 1) * 201  # and the end


def test_all_patterns_together_take_what_a_moment_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    allowance = patterns._Allowance(clock)
    monkeypatch.setattr(patterns, "_allowance", allowance)
    slow = "(?=[a-z]{900})" * 4 + "[" + "a-b" * 200 + "]{0,100}b$"
    results = [matches(slow, "a" * 900) for _ in range(20)]
    assert results == [None] * 20
    assert allowance._left > -2 * patterns.MAX_STATES
    assert matches("a", "a") is None
    clock.time = 1.0
    assert matches("a", "a") is True
    clock.time = 0.0  # a snapshot was restored
    assert matches("a", "b") is False


def test_a_schema_of_many_such_fields_takes_what_a_moment_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    allowance = patterns._Allowance(Clock())
    monkeypatch.setattr(patterns, "_allowance", allowance)
    hostile = {"type": "string", "pattern": "(?:(?:a{1,9}){9})*b$", "default": "a" * 5000}
    fields_of({"type": "object", "properties": {str(at): hostile for at in range(1000)}})
    assert allowance._left > -2 * patterns.MAX_STATES


@pytest.fixture
def _limited(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_keywords, _legacy_keywords, _utils):
        monkeypatch.setattr(module, "re", re)  # and so it is again afterwards
    limit_patterns.cache_clear()
    limit_patterns()


HOSTILE = "a?" * 40 + "b$"


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("validator", [Draft7Validator, Draft202012Validator])
@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"properties": {"x": {"pattern": HOSTILE}}}, {"x": "ab"}, {"x": "a" * 60}),
        ({"patternProperties": {HOSTILE: {"type": "string"}}}, {"a" * 60: 1}, {"ab": 1}),
        ({"patternProperties": {HOSTILE: {}}, "additionalProperties": False}, {"ab": 1}, {"a" * 60: 1}),
    ],
)
def test_a_result_is_checked_in_linear_time(validator: Any, schema: Any, right: Any, wrong: Any) -> None:
    assert validator(schema).is_valid(right)
    assert not validator(schema).is_valid(wrong)


@pytest.mark.usefixtures("_limited")
async def test_the_sdk_checks_results_so() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": HOSTILE}}}
    tool = types.Tool(name="odd", input_schema={"type": "object"}, output_schema=schema)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content={"x": "a" * 60})

    async with Client(Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
        with pytest.raises(RuntimeError, match="does not match"):
            await client.call_tool("odd", {})
