"""Schemas without references."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from mcp import Client
from pydantic import BaseModel, Field

from mcpframe import FrameServer
from mcpframe.frame.serving.inline_schemas import inlined

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def of(schema: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "$defs": definitions}


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"$ref": "#/$defs/P"}, POINT),
        ({"type": "array", "items": {"$ref": "#/$defs/P"}}, {"type": "array", "items": POINT}),
        ({"anyOf": [{"$ref": "#/$defs/P"}, {"type": "null"}]}, {"anyOf": [POINT, {"type": "null"}]}),
        ({"$ref": "#/$defs/P", "description": "Where"}, {**POINT, "description": "Where"}),
        ({"$ref": "#/$defs/P", "minProperties": 1}, {"allOf": [POINT], "minProperties": 1}),
        ({"$ref": "#/$defs/Q"}, {"type": "array", "items": POINT}),
        ({"const": {"$ref": "#/$defs/P"}}, {"const": {"$ref": "#/$defs/P"}}),
        ({"properties": {"default": {"$ref": "#/$defs/P"}}}, {"properties": {"default": POINT}}),
        ({"$ref": "#/$defs/a~1b~0c"}, {"type": "string"}),
        ({"$ref": "#/$defs/T"}, True),
    ],
)
def test_definitions_take_the_place_of_references(schema: dict[str, Any], part: Any) -> None:
    definitions = {"P": POINT, "Q": {"type": "array", "items": {"$ref": "#/$defs/P"}}, "T": True}
    definitions["a/b~c"] = {"type": "string"}
    assert inlined(of(schema, **definitions)) == {"type": "object", "properties": {"a": part}}


def test_a_root_that_is_a_reference_becomes_an_object() -> None:
    assert inlined({"$ref": "#/$defs/P", "$defs": {"P": POINT}}) == POINT


def test_a_circle_keeps_what_it_needs_and_nothing_else() -> None:
    node = {"type": "object", "properties": {"at": {"$ref": "#/$defs/P"}, "next": {"$ref": "#/$defs/N"}}}
    found = inlined(of({"$ref": "#/$defs/N"}, N=node, P=POINT))
    assert list(found["$defs"]) == ["N"]
    assert found["properties"]["a"]["properties"] == {"at": POINT, "next": {"$ref": "#/$defs/N"}}
    for value, is_valid in (({"a": {"next": {"at": {"x": 1}}}}, True), ({"a": {"next": {"next": {"at": {}}}}}, False)):
        assert jsonschema.Draft202012Validator(found).is_valid(value) is is_valid


@pytest.mark.parametrize(
    "schema",
    [
        of({"type": "string"}),
        of({"$ref": "#/$defs/Missing"}, P=POINT),
        of({"$ref": "https://example.com/schema"}, P=POINT),
        of({"$id": "https://example.com/a", "$ref": "#/$defs/P"}, P=POINT),
        of(
            {"$ref": "#/$defs/D0"},
            **{f"D{n}": {"items": [{"$ref": f"#/$defs/D{n + 1}"}] * 2} for n in range(30)},
            D30={},
        ),
    ],
)
def test_others_are_left_as_they_are(schema: dict[str, Any]) -> None:
    assert inlined(schema) is schema


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


@pytest.mark.parametrize("inline", [True, False])
async def test_clients_get_them(inline: bool) -> None:
    server = FrameServer("a", allowed_origins=["*"], inline_schemas=inline)

    @server.tool()
    def grow(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> list[Circle]:
        return []

    async with Client(server) as client:
        [tool] = (await client.list_tools()).tools
        assert (await client.call_tool("grow", {"shape": {"kind": "circle", "radius": 1}})).is_error is False
    text = tool.model_dump_json()
    assert ("$ref" in text, "$defs" in text, "discriminator" in text) == (not inline,) * 3
    jsonschema.Draft202012Validator(tool.input_schema).validate({"shape": {"kind": "square", "side": 2.0}})
