"""`key=value` words become what the tool's schema says; what it does not allow is one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.cli.arguments import check_arguments, parse_pairs, properties_of, required_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["count"],
    "properties": {
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "name": {"type": "string"},
        "on": {"type": "boolean"},
        "tags": {"type": "array"},
        "point": {"$ref": "#/$defs/Point"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "colour": {"enum": ["red", "green"]},
        "anything": {},
        "loop": {"$ref": "#/properties/loop"},
    },
    "$defs": {"Point": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("count=3", 3),
        ("count=3.0", 3),
        ("share=3", 3),
        ("share=0.5", 0.5),
        ("name=3", "3"),
        ("name=a=b", "a=b"),
        ("name=", ""),
        ("on=true", True),
        ("tags=[1, 2]", [1, 2]),
        ('point={"x": 1}', {"x": 1}),
        ("maybe=null", None),
        ("maybe=4", 4),
        ("either=4", 4),
        ("either=four", "four"),
        ("colour=red", "red"),
        ("anything=[1]", [1]),
        ("anything=word", "word"),
        ("loop=1", 1),
    ],
)
def test_a_text_becomes_what_the_schema_says(word: str, value: Any) -> None:
    [found] = parse_pairs([word], SCHEMA).values()
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["count"], "'count' is no argument: write key=value"),
        (["=1"], "is no argument"),
        (["count=x"], "'count' has to be an integer, not 'x'"),
        (["count=1.5"], "has to be an integer"),
        (["on=yes"], "has to be a boolean"),
        (["maybe=x"], "has to be an integer or null"),
        (["coun=1"], "no argument 'coun'; did you mean count\\? it has: count, share"),
        (["count=1", "count=2"], "given twice"),
    ],
)
def test_what_it_does_not_allow_is_one_sentence(words: list[str], said: str) -> None:
    with pytest.raises(CallError, match=said):
        parse_pairs(words, SCHEMA)


def test_further_names_where_the_schema_allows_them() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}
    assert parse_pairs(["a=1"], schema) == {"a": 1}


def test_names_are_checked_before_the_call() -> None:
    check_arguments({"count": 1}, SCHEMA)
    with pytest.raises(CallError, match="The tool needs the argument count"):
        check_arguments({}, SCHEMA)
    with pytest.raises(CallError, match="no argument 'other'"):
        check_arguments({"other": 1}, SCHEMA)


@pytest.mark.parametrize(
    "broken",
    [
        {"properties": None, "required": None},
        {"properties": [], "required": 5},
        {"properties": {"a": 5}, "required": [{}]},
        {"properties": {"a": {"type": ["integer", 5]}}},
        {"properties": {"a": {"enum": 5}}},
        {"properties": {"a": {"anyOf": 5}}},
        {"properties": {"a": {"anyOf": [5, None, True]}}},
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": True}},
    ],
)
def test_a_schema_that_is_not_well_formed_is_the_servers_to_refuse(broken: dict[str, Any]) -> None:
    assert parse_pairs(["a=1"], broken) == {"a": 1}
    check_arguments({"a": 1}, broken)
    assert list(properties_of(broken)) in ([], ["a"])
    assert required_of(broken) == []
