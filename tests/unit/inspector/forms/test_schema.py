"""Fields of the schemas that people write for tools, and what a form starts with."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.forms.checks import fits, problem, requirement
from inspector.forms.fields import Field, initial
from inspector.forms.json_values import MISSING, NotJson, read_json, same, write_json
from inspector.forms.schema import MAX_FIELDS, fields_of
from tests.unit.inspector.forms.schemas import JSON, any_schemas, sound_schemas


def kinds(field: Field) -> Any:
    """A field in short: its kind, or that and what is in it."""
    inner = {member.name: kinds(member) for member in field.members}
    if field.kind == "union":
        return [kinds(option) for option in field.options]
    kind = f"{field.kind}?" if field.nullable else field.kind
    if inner or (field.kind == "array" and field.more):
        return {kind: inner | ({"*": kinds(field.more)} if field.more and field.kind == "array" else {})}
    return kind


NODE = {"$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}, "$ref": "#/$defs/N"}
TITLED = [{"const": "a", "title": "Apple"}, {"const": "b", "title": "Bear"}]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "null"}, "choice"),
        ({"const": 3}, "choice"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"type": "string", "enum": ["a"]}, "choice"),
        ({"oneOf": TITLED}, "choice"),
        ({"type": "string", "anyOf": TITLED}, "choice"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["Apple", "Bear"]}, "choice"),
        ({"type": "string", "contentEncoding": "base64"}, "file"),
        ({"type": "string", "format": "byte"}, "file"),
        # types that are lists, or missing
        ({"type": ["string", "null"]}, "text?"),
        ({"type": ["string", "integer"]}, ["text", "integer"]),
        ({"type": ["string", "integer", "null"]}, ["text", "integer", "choice"]),
        ({"properties": {"a": {"type": "string"}}}, {"object": {"a": "text"}}),
        ({"items": {"type": "string"}}, {"array": {"*": "text"}}),
        ({"minimum": 3}, "number"),
        ({"pattern": "a"}, "text"),
        ({}, "json"),
        # boolean schemas
        (True, "json"),
        (False, "json"),
        ({"type": "object", "properties": {"a": True, "b": False}}, {"object": {"a": "json"}}),
        # null beside others
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text?"),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "integer?"),
        ({"anyOf": [{"enum": ["a"]}, {"const": None}]}, "choice?"),
        ({"anyOf": [*TITLED, {"type": "null"}]}, "choice?"),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, ["object", "choice"]),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, ["text", "object"]),
        # objects
        ({"type": "object"}, "object"),
        ({"type": "object", "required": ["a"]}, {"object": {"a": "json"}}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object"),
        # arrays
        ({"type": "array"}, {"array": {"*": "json"}}),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "choices"),
        ({"type": "array", "items": {"anyOf": TITLED}}, "choices"),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            {"array": {"*": {"array": {"*": "number"}}}},
        ),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, {"array": {"1": "text"}}),
        ({"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1}, {"array": {"1": "text"}}),
        ({"prefixItems": [{"type": "string"}]}, {"array": {"1": "text", "*": "json"}}),
        (
            {"items": [{"type": "string"}], "additionalItems": {"type": "number"}},
            {"array": {"1": "text", "*": "number"}},
        ),
        # references and allOf
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "integer"}}}, "integer"),
        ({"$ref": "#/definitions/a~1b%20c", "definitions": {"a/b c": {"type": "integer"}}}, "integer"),
        ({"$ref": "#/x/1", "x": [{}, {"type": "boolean"}]}, "boolean"),
        (NODE, {"object": {"next": "json"}}),
        ({"$ref": "#"}, "json"),
        ({"$ref": "#/$defs/missing"}, "json"),
        ({"$ref": "https://example.org/schema"}, "json"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "text"),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]},
            {"object": {"a": "text", "b": "json"}},
        ),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "integer"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"allOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, "choice"),
        # what only the server can check
        ({"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}, {"object": {"a": "json"}}),
        # nonsense
        (None, "json"),
        ("string", "json"),
        ([], "json"),
        ({"type": 3}, "json"),
        ({"type": "strnig"}, "json"),
        ({"type": "object", "properties": []}, "json"),
        ({"enum": []}, "json"),
        ({"anyOf": [False]}, "json"),
        ({"allOf": 1}, "json"),
        ({"enum": list(range(5000))}, "json"),
    ],
)
def test_kinds(schema: Any, expected: Any) -> None:
    assert kinds(fields_of(schema)) == expected


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(pydantic.BaseModel):
    """Where somebody lives."""

    street: str
    number: int | None = None


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


class Everything(pydantic.BaseModel):
    name: str
    max_results: Annotated[int, pydantic.Field(ge=1, lt=100, description="How many")] = 10
    url: pydantic.AnyUrl | None = None
    home: Address
    office: Address | None = None
    tags: list[str] = []
    colours: set[Colour] = {Colour.RED}
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
    pair: tuple[int, str]
    weights: dict[str, float] = {}
    data: pydantic.Base64Bytes = b""
    whatever: Any = None
    id: int | str


def test_a_model_of_pydantic() -> None:
    field = fields_of(Everything.model_json_schema(), name="arguments")
    assert kinds(field) == {
        "object": {
            "name": "text",
            "max_results": "integer",
            "url": "text?",
            "home": {"object": {"street": "text", "number": "integer?"}},
            "office": [{"object": {"street": "text", "number": "integer?"}}, "choice"],
            "tags": {"array": {"*": "text"}},
            "colours": "choices",
            "pet": [{"object": {"kind": "choice", "lives": "integer"}}, {"object": {"kind": "choice"}}],
            "pair": {"array": {"1": "integer", "2": "text"}},
            "weights": "object",
            "data": "file",
            "whatever": "json",
            "id": ["integer", "text"],
        }
    }
    members = {member.name: member for member in field.members}
    assert members["max_results"].title == "max_results"  # "Max Results" tells no more
    assert members["home"].title == "home"
    assert members["home"].description == "Where somebody lives."
    assert [option.title for option in members["pet"].options] == ["Cat", "Dog"]
    assert [option.title for option in members["office"].options] == ["Address", "null"]
    assert {name for name, member in members.items() if member.required} == {"name", "home", "pet", "pair", "id"}
    assert initial(field) == {
        "max_results": 10,
        "home": {},
        "tags": [],
        "colours": ["red"],
        "pet": {"kind": "cat", "lives": 9},
        "pair": [],
        "weights": {},
        "data": "",
    }


def test_what_zod_writes() -> None:
    field = fields_of(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "q": {"type": "string", "minLength": 1, "description": "Query"},
                "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
                "at": {"type": "string", "format": "date-time"},
                "map": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}},
                "either": {"anyOf": [{"type": "string"}, {"not": {}}]},
                "same": {"$ref": "#/properties/q"},
            },
            "required": ["q"],
            "additionalProperties": False,
        }
    )
    assert kinds(field) == {
        "object": {
            "q": "text", "mode": "choice", "at": "text", "map": "object", "either": ["text", "json"], "same": "text",
        }
    }  # fmt: skip
    assert field.more is None
    assert field.members[3].is_free
    assert initial(field) == {"mode": "fast"}


@pytest.mark.parametrize(
    ("schema", "titles"),
    [
        ({"enum": ["a", "b"]}, ["a", "b"]),
        ({"enum": ["1", 1, None, ""]}, ['"1"', "1", "null", '""']),
        ({"enum": ["a", "b"], "enumNames": ["Apple"]}, ["Apple", "b"]),
        ({"type": "string", "enum": ["a", 1]}, ["a"]),
        ({"oneOf": TITLED}, ["Apple", "Bear"]),
        ({"oneOf": [{"const": 1}, {"const": True, "title": "Yes"}]}, ["1", "Yes"]),
        ({"type": "array", "items": {"oneOf": TITLED}}, ["Apple", "Bear"]),
    ],
)
def test_choices(schema: Any, titles: list[str]) -> None:
    assert [choice.title for choice in fields_of(schema).choices] == titles


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ([{"type": "string"}, {"type": "integer"}], ["text", "integer"]),
        ([{"type": "string", "title": "Name"}, {"type": "integer", "title": "Number"}], ["Name", "Number"]),
        ([{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 1}], ["text (1)", "text (2)"]),
        ([{"type": "array", "items": {"type": "string"}}, {"type": "string"}], ["list of text", "text"]),
        ([{"enum": ["on", "off"]}, {"type": "number"}], ["on or off", "number"]),
        (
            [{"properties": {"t": {"const": "x"}}}, {"properties": {"t": {"const": "y"}}}],
            ["t: x", "t: y"],
        ),
    ],
)
def test_options_are_told_apart(options: list[Any], titles: list[str]) -> None:
    assert [option.title for option in fields_of({"anyOf": options}).options] == titles


@pytest.mark.parametrize(
    ("schema", "start"),
    [
        ({"type": "integer", "examples": [1, 2], "example": 3, "description": "Example: 4", "default": 5}, 1),
        ({"type": "integer", "example": 3, "description": "Example: 4", "default": 5}, 3),
        ({"type": "integer", "description": "Example: 4", "default": 5}, 4),
        ({"type": "integer", "default": 5}, 5),
        ({"type": "integer"}, MISSING),
        ({"type": "integer", "examples": ["no"], "default": 5}, 5),
        ({"type": "integer", "examples": [], "example": None, "default": 5}, 5),
        ({"type": "integer", "minimum": 10, "examples": [1]}, MISSING),
        ({"type": "string", "description": "A path. Example: $.store.book[*].author"}, "$.store.book[*].author"),
        ({"type": "string", "description": "A path (Example: a/b)."}, "a/b"),
        ({"type": "string", "description": "Say it. Example: 'hello there'.\nMore."}, "hello there"),
        ({"type": "string", "description": "Digits. Example: 42"}, "42"),
        ({"type": "array", "items": {"type": "integer"}, "description": "Example: [1, 2]"}, [1, 2]),
        ({"type": "object", "properties": {}, "description": 'Example: {"a": 1}'}, {"a": 1}),
        ({"type": "boolean", "description": "Example: true"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, None),
        ({"$ref": "#/$defs/A", "default": "b", "$defs": {"A": {"enum": ["a", "b"]}}}, "b"),
        ({"type": "boolean"}, False),
        ({"const": "x"}, "x"),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [False, False]),
        ({"type": "array", "minItems": 10**9}, []),
        (
            {"type": "object", "default": {"a": 1}, "properties": {"a": {}, "b": {"default": 2}, "c": {}}},
            {"a": 1, "b": 2},
        ),
    ],
)
def test_what_a_form_starts_with(schema: Any, start: Any) -> None:
    assert initial(fields_of(schema)) == start


def test_null_as_the_default_of_what_is_optional_is_left_out() -> None:
    schema = {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}}
    assert initial(fields_of(schema)) == {}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "string"}, MISSING, "is required"),
        ({"type": "string"}, 3, "must be text"),
        ({"type": "string", "minLength": 3}, "ab", "must have at least 3 characters"),
        ({"type": "string", "minLength": 1}, "", "must have at least 1 character"),
        ({"type": "string", "maxLength": 3}, "abcd", "must have at most 3 characters"),
        ({"type": "string", "maxLength": 3}, "😀😀😀", None),
        ({"type": "string", "pattern": "^a+$"}, "b", "must match the pattern ^a+$"),
        ({"type": "string", "pattern": "\\p{L}("}, "a", None),
        ({"type": "string", "format": "date"}, "2026-02-30", "must be a date such as 2026-01-31"),
        ({"type": "string", "format": "date"}, "2026-02-28", None),
        ({"type": "string", "format": "time"}, "25:00", "must be a time such as 13:45:00Z"),
        ({"type": "string", "format": "time"}, "23:59:59.5+02:00", None),
        (
            {"type": "string", "format": "date-time"},
            "yesterday",
            "must be a date and time such as 2026-01-31T13:45:00Z",
        ),
        ({"type": "string", "format": "date-time"}, "2026-01-31T13:45:00.25Z", None),
        ({"type": "string", "format": "date-time"}, "2026-01-31T13:45", None),
        ({"type": "string", "format": "email"}, "ada", "must be an e-mail address such as ada@example.org"),
        ({"type": "string", "format": "uri"}, "example.org", "must be an address such as https://example.org/"),
        ({"type": "string", "format": "uri"}, "mailto:a@b", None),
        ({"type": "string", "format": "color"}, "12", "must be a colour such as #2557b8"),
        ({"type": "string", "format": "uuid"}, "1", "must be a UUID such as 123e4567-e89b-12d3-a456-426614174000"),
        ({"type": "string", "format": "unheard-of"}, "x", None),
        ({"type": "string", "format": "byte"}, "%%", "must be base64, as a chosen file gives it"),
        ({"type": "string", "format": "byte"}, "aGk=", None),
        ({"type": "integer"}, 1.5, "must be a whole number"),
        ({"type": "integer"}, 2.0, None),
        ({"type": "integer"}, True, "must be a whole number"),
        ({"type": "number"}, "1", "must be a number"),
        ({"type": "number", "minimum": 3}, 2, "must be at least 3"),
        ({"type": "number", "maximum": 3}, 4, "must be at most 3"),
        ({"type": "number", "exclusiveMinimum": 3}, 3, "must be more than 3"),
        ({"type": "number", "exclusiveMaximum": 3}, 3, "must be less than 3"),
        ({"type": "number", "minimum": 3, "exclusiveMinimum": True}, 3, "must be more than 3"),
        ({"type": "number", "maximum": 3, "exclusiveMaximum": True}, 3, "must be less than 3"),
        ({"type": "number", "multipleOf": 0.1}, 0.3, None),
        ({"type": "number", "multipleOf": 0.1}, 0.35, "must be a multiple of 0.1"),
        ({"type": "number", "minimum": "3"}, 2, None),
        ({"type": "boolean"}, "true", "must be true or false"),
        ({"enum": ["a", "b", "c"]}, "d", "must be a, b or c"),
        ({"enum": [1]}, True, "must be 1"),
        ({"enum": [*"abcdefghij"]}, "x", "must be one of a, b, c, d, e, f, g, h and 2 more"),
        ({"type": "array"}, {}, "must be a list"),
        ({"type": "array", "minItems": 2}, [1], "must have at least 2 items"),
        ({"type": "array", "maxItems": 1}, [1, 2], "must have at most 1 item"),
        ({"type": "array", "uniqueItems": True}, [1, 1.0], "must not have an item twice"),
        ({"type": "array", "uniqueItems": True}, [1, True], None),
        ({"type": "object"}, [], "must be an object"),
        ({"type": "object", "minProperties": 1}, {}, "must have at least 1 entry"),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "must have at most 1 entry"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, [], "must be text or integer"),
        ({"enum": list(range(5000))}, -1, "must be one of the 5,000 values that the schema lists"),
    ],
)
def test_what_is_wanted(schema: Any, value: Any, said: str | None) -> None:
    assert problem(fields_of(schema), value) == said


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, "at least 1, at most 9"),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}, "more than 0, a multiple of 2"),
        ({"type": "string", "minLength": 2, "maxLength": 4}, "2 to 4 characters"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "2 characters"),
        ({"type": "string", "maxLength": 4}, "at most 4 characters"),
        ({"type": "string", "format": "date"}, "a date such as 2026-01-31"),
        ({"type": "string"}, ""),
    ],
)
def test_hints(schema: Any, hint: str) -> None:
    assert requirement(fields_of(schema)) == hint


def test_large_schemas_are_cut_and_stay_quick() -> None:
    many = [str(at) for at in range(200_000)]
    assert fields_of({"properties": dict.fromkeys(many, True)}).kind == "json"
    assert fields_of({"type": "object", "required": many}).kind == "json"
    assert fields_of({"prefixItems": many}).kind == "json"
    assert fields_of({"anyOf": [{"const": each} for each in many]}).kind == "json"
    unique = fields_of({"type": "array", "uniqueItems": True, "items": {}, "default": many})
    assert initial(unique) == many
    nested: dict[str, Any] = {"type": "boolean"}
    for _ in range(15):
        nested = {"type": "array", "items": nested, "minItems": 50}
    assert len(json.dumps(initial(fields_of(nested)))) < 1000
    assert problem(fields_of({"type": "number"}), 10**1000) is None


def test_a_schema_that_grows_without_end_is_cut() -> None:
    definitions = {
        f"d{at}": {"properties": {"a": {"$ref": f"#/$defs/d{at + 1}"}, "b": {"$ref": f"#/$defs/d{at + 1}"}}}
        for at in range(60)
    }
    field = fields_of({"$defs": definitions | {"d60": {}}, "$ref": "#/$defs/d0"})

    def count(field: Field) -> int:
        return 1 + sum(map(count, (*field.members, *field.options, *filter(None, [field.more]))))

    assert count(field) < 3 * MAX_FIELDS
    deep: Any = {}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    assert fields_of(deep).kind == "array"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; write {} for nothing, or null"),
        ('{"a": 1,\n "b": }', "is not JSON: expecting value at line 2, column 7"),
        ("hello", 'is not JSON: expecting value at line 1, column 1; a text needs quotes: "hello"'),
        ("[NaN]", "is not JSON: it has no NaN"),
        ('{"a": 1, "a": 2}', 'has the key "a" twice in one object'),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_what_is_wrong_with_json(text: str, said: str) -> None:
    with pytest.raises(NotJson) as caught:
        read_json(text)
    assert str(caught.value) == said


@given(JSON)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    text = write_json(value)
    text.encode()
    assert json.dumps(read_json(text)) == json.dumps(value)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(any_schemas())
def test_any_schema_gives_fields(schema: Any) -> None:
    field = fields_of(schema)
    start = initial(field)
    assert start is MISSING or isinstance(json.dumps(start), str)
    for member in field.members:
        assert member.title


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_what_fits_is_what_the_schema_allows(data: st.DataObject) -> None:
    schema, values = data.draw(sound_schemas())
    value = data.draw(st.one_of(values, JSON))
    is_allowed = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert fits(fields_of(schema), value) is is_allowed


def test_equal_values() -> None:
    assert same({"a": [1, 2.0]}, {"a": [1.0, 2]})
    assert not same(1, True)
    assert not same([0], [False])
    assert not same({"a": 1}, {"a": 1, "b": 2})
