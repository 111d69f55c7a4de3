"""`key=value` words become what the tool's schema says; what it does not allow is one sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.json_schema import error_of
from mcpframe.kit.cli.calling.arguments import check_arguments, parse_pairs, properties_of, required_of, undeclared

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
        (["count"], "'count' is not an argument: write key=value"),
        (["=1"], "is not an argument"),
        (["count=x"], "'count' has to be an integer, not 'x'"),
        (["count=1.5"], "has to be an integer"),
        (["on=yes"], "has to be a boolean"),
        (["maybe=x"], "has to be an integer or null"),
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
    with pytest.raises(CallError, match=r"needs the argument count .'coun' is not one of its arguments"):
        check_arguments({"coun": 1}, SCHEMA)


@pytest.mark.parametrize("closed", [{"additionalProperties": False}, {"unevaluatedProperties": False}])
def test_a_closed_object_has_no_further_arguments(closed: dict[str, Any]) -> None:
    schema = {**SCHEMA, **closed}
    with pytest.raises(CallError, match="no argument 'coun'; did you mean count\\? it has: count, share"):
        parse_pairs(["coun=1"], schema)
    with pytest.raises(CallError, match="no argument 'coun'"):
        check_arguments({"coun": 1}, schema)


def test_an_open_object_takes_what_it_does_not_declare() -> None:
    """JSON Schema 2020-12, 10.3.2.3: without `additionalProperties`, any further property is allowed."""
    assert parse_pairs(["count=1", "other=[2]"], SCHEMA) == {"count": 1, "other": [2]}
    check_arguments({"count": 1, "other": [2]}, SCHEMA)
    assert undeclared({"count": 1, "other": 2}, SCHEMA) == ["other"]
    assert undeclared({"any": 1}, {"type": "object"}) == []


ADDRESS = {"properties": {"address": {"type": "string"}}, "required": ["address"]}
PHONE = {"properties": {"phone": {"type": "string"}}, "required": ["phone"]}


@pytest.mark.parametrize(
    "more",
    [
        {"oneOf": [ADDRESS, PHONE]},
        {"anyOf": [ADDRESS, {"$ref": "#/$defs/P"}], "$defs": {"P": PHONE}},
        {"allOf": [PHONE]},
        {"$ref": "#/$defs/P", "$defs": {"P": PHONE}},
        {"if": {"properties": {"kind": {"const": "home"}}}, "then": ADDRESS, "else": PHONE},
        {"dependentSchemas": {"kind": PHONE}},
        {"patternProperties": {"^p": {"type": "string"}}, "additionalProperties": False},
    ],
)
def test_properties_of_alternatives_are_arguments(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"kind": {"type": "string"}}, **more}
    assert parse_pairs(["kind=x", "phone=12a"], schema) == {"kind": "x", "phone": "12a"}
    check_arguments({"kind": "x", "phone": "12a"}, schema)
    assert "phone" in undeclared({"phone": ""}, schema) if "patternProperties" in more else True


def test_what_all_of_the_parts_say_is_read_together() -> None:
    schema = {"properties": {"a": {"allOf": [{"type": ["integer", "string"]}, {"type": ["string", "null"]}]}}}
    assert parse_pairs(["a=1"], schema) == {"a": "1"}
    with pytest.raises(CallError, match="has to be a string, not 1"):
        check_arguments({"a": 1}, schema)
    anything = {"properties": {"a": {"anyOf": [{"type": "integer"}, {"description": "or anything else"}]}}}
    assert parse_pairs(["a=word"], anything) == {"a": "word"}


@pytest.mark.parametrize(
    "defs",
    [
        {"N": {"anyOf": [{"$ref": "#/$defs/N"}] * 8}},
        {f"N{n or ''}": {"anyOf": [{"$ref": f"#/$defs/N{n + 1}"}] * 8} for n in range(50)},
    ],
)
def test_references_that_fan_out_are_read_once(defs: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": defs, "$ref": "#/$defs/N"}
    assert parse_pairs(["a=1"], schema) == {"a": 1}
    check_arguments({"a": 1}, schema)


_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
_LEAVES = st.one_of(
    st.booleans(),
    st.builds(lambda kind: {"type": kind}, _TYPES),
    st.builds(lambda kinds: {"type": kinds}, st.lists(_TYPES, min_size=1, max_size=3, unique=True)),
    st.builds(lambda value: {"const": value}, st.sampled_from([1, 1.5, "a", None, True])),
    st.sampled_from([{"$ref": "#/$defs/a"}, {}]),
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner),
                "additionalProperties": inner,
                "unevaluatedProperties": inner,
                "required": st.lists(st.sampled_from("ab"), unique=True),
                "if": inner,
                "then": inner,
                "else": inner,
                "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
            },
        ),
        st.builds(
            lambda key, parts: {key: parts}, st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1)
        ),
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries({"$defs": st.fixed_dictionaries({"a": _SCHEMAS})}),
    _SCHEMAS.filter(lambda s: isinstance(s, dict)),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, 1.0, 1.5, "x", None, True, [], {}]), max_size=3),
)
@settings(max_examples=150)
def test_what_jsonschema_accepts_is_never_refused(
    defs: dict[str, Any], schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    schema = {**schema, **defs}
    try:
        accepted = error_of(arguments, schema) is None
    except ValueError:
        return
    if accepted:
        check_arguments(arguments, schema)


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
