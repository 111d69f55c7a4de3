"""Sample values: every one of them is accepted by its schema, or there is none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field, TypeAdapter

from mcpframe.kit.publish.view_checks.samples import NoSample, sample


class Day(BaseModel):
    at: Annotated[str, Field(json_schema_extra={"format": "date"})]
    sky: Literal["sun", "rain"]


class Trip(BaseModel):
    """As a tool's arguments are described."""

    place: Annotated[str, Field(min_length=1, max_length=80)]
    people: Annotated[int, Field(gt=2, le=9)]
    days: Annotated[list[Day], Field(min_length=2)]
    price: float | None
    paid: bool
    notes: str = "none"


def test_the_arguments_of_a_tool() -> None:
    schema = TypeAdapter(Trip).json_schema()
    value = sample(schema)
    Trip.model_validate(value)
    assert "notes" not in value
    assert [day["sky"] for day in value["days"]] == ["sun", "sun"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"type": "string", "minLength": 30},
        {"type": "string", "maxLength": 2},
        {"type": "string", "examples": ["Wien"]},
        {"const": 7},
        {"enum": ["a", "b"]},
        {"type": "integer", "multipleOf": 5, "minimum": 11},
        {"type": "integer", "maximum": -3},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"properties": {"a": {"type": "boolean"}}, "required": ["a"]},
        {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "string"}}}]},
        {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "default": "x"}}},
    ],
)
def test_plain_schemas(schema: dict[str, Any]) -> None:
    jsonschema.validate(sample(schema), schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[0-9]{3}$"},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "objekt"},
        {"$ref": "#/$defs/missing", "type": "string"},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
    ],
)
def test_where_there_is_none(schema: dict[str, Any]) -> None:
    with pytest.raises(NoSample):
        sample(schema)


def test_a_schema_without_an_end() -> None:
    endless = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {}}}}}
    endless["$defs"]["a"]["properties"]["a"] = {"$ref": "#/$defs/a"}  # type: ignore[index]
    with pytest.raises(NoSample):
        sample(endless)


_FAN_OUT = {f"N{n}": {"properties": {k: {"$ref": f"#/$defs/N{n + 1}"} for k in "abcdefgh"}} for n in range(30)}
_REQUIRED = {name: {**each, "required": list("abcdefgh")} for name, each in _FAN_OUT.items()}


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"$ref": "#/$defs/N"}] * 8}}},
        {"$ref": "#/$defs/N0", "$defs": {**_REQUIRED, "N30": {"type": "integer"}}},
        {
            "$ref": "#/$defs/N0",
            "$defs": {f"N{n}": {"not": {"allOf": [{"$ref": f"#/$defs/N{n + 1}"}] * 8}} for n in range(30)}
            | {"N30": True},
        },
        {"type": "array", "minItems": 10**12},
        {"type": "array", "minItems": 1e300},
        {"type": "string", "minLength": 10**12},
        {"type": "string", "minLength": 40, "pattern": "^(S|a|m|p|l|e+)+$x"},
        {"allOf": [True, {"type": "objekt"}]},
        {"type": []},
        {"$ref": "https://elsewhere.example/schema"},
        {"$schema": 5, "type": "integer", "properties": {"$schema": 1}},
        _nested(5_000),
    ],
)
def test_odd_schemas_end_at_once(schema: dict[str, Any]) -> None:
    with pytest.raises(NoSample):
        sample(schema)


def test_a_pattern_with_an_example_of_its_author() -> None:
    assert sample({"type": "string", "pattern": "^[0-9]{3}$", "examples": ["123"]}) == "123"
