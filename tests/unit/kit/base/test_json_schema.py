"""Values against schemas of strangers: jsonschema's own reading, bounded, without patterns and without fetching."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from mcpframe.kit.base.json_schema import SchemaTooComplex, error_of

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TREE = {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"$ref": "#"}}, "type": "object"}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"a": 1}, {"properties": {"a": {"type": "integer"}}}),
        ({"a": "x"}, {"properties": {"a": {"type": "integer"}}}),
        ({"a": {"a": {}}}, TREE),
        ({"a": {"a": 1}}, TREE),
        ([1, "x"], {"$schema": DRAFT_7, "items": [{"type": "integer"}], "additionalItems": False}),
        (1, False),
        (1, True),
        ({"b": 1}, {"allOf": [{"required": ["a"]}], "additionalProperties": False}),
        ({"b": 1}, {"oneOf": [{"required": ["b"]}, {"required": ["a"]}], "unevaluatedProperties": False}),
    ],
)
def test_it_is_the_reading_of_jsonschema(value: Any, schema: Any) -> None:
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    assert (error_of(value, schema) is None) == validator.is_valid(value)


def test_an_error_names_its_place() -> None:
    error = error_of({"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "integer"}}}})
    assert error is not None
    assert error.startswith("a[1]: ")
    assert "'x'" in error


def test_patterns_are_left_to_the_server() -> None:
    endless = {"type": "string", "pattern": "^(a+)+$"}
    assert error_of("a" * 60 + "b", endless) is None
    assert error_of({"a" * 60 + "b": 1}, {"patternProperties": {"^(a+)+$": False}}) is None
    names = {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
    assert error_of({"a" * 60 + "b": 1}, names) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"$ref": "#/$defs/N"}] * 8}}},
        {
            "$ref": "#/$defs/N0",
            "$defs": {f"N{n}": {"anyOf": [{"$ref": f"#/$defs/N{n + 1}"}] * 8} for n in range(30)} | {"N30": False},
        },
        {"properties": {"a": {"$schema": DRAFT_7, "pattern": "^(a+)+$"}}},
    ],
)
def test_what_has_no_end_is_an_error(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaTooComplex):
        error_of({"a": "a" * 60 + "b"}, schema)


@pytest.mark.parametrize(
    "schema", [{"type": "objekt"}, {"$ref": "https://elsewhere.example/x"}, {"$ref": "#/$defs/x"}, 5, [], {"type": 1}]
)
def test_a_schema_that_is_none(schema: Any) -> None:
    with pytest.raises(ValueError, match="schema"):
        error_of(1, schema)
