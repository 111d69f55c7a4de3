"""The fields of a tool's form: which control a schema gets, and which argument an entry is."""

from __future__ import annotations

import enum
import re
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

from mcpframe.frame.webmcp.form_fields import MISSING, FormField, WrongEntryError, fields_of


def field(schema: Any, *, required: bool = True, **root: Any) -> FormField:
    """Return the field of one property `x`."""
    [found] = fields_of({"properties": {"x": schema}, "required": ["x"] if required else [], **root})
    return found


TEXT = {"type": "string"}
CONTROLS: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
    "a text": (TEXT, "text", "input", {"type": "text"}),
    "lengths": (
        TEXT | {"minLength": 1, "maxLength": 9},
        "text",
        "input",
        {"type": "text", "minlength": "1", "maxlength": "9"},
    ),
    "lengths that are none": (TEXT | {"minLength": -1, "maxLength": "9"}, "text", "input", {"type": "text"}),
    "a long text": (TEXT | {"maxLength": 201}, "area", "textarea", {"maxlength": "201"}),
    "a text of lines": (TEXT | {"format": "multiline"}, "area", "textarea", {}),
    "a text of a media type": (TEXT | {"contentMediaType": "text/markdown"}, "area", "textarea", {}),
    "an address for mail": (TEXT | {"format": "email"}, "text", "input", {"type": "email"}),
    "a URL": (TEXT | {"format": "uri"}, "text", "input", {"type": "url"}),
    "a date": (TEXT | {"format": "date"}, "text", "input", {"type": "date"}),
    "a time": (TEXT | {"format": "time"}, "text", "input", {"type": "time"}),
    "a password": (TEXT | {"format": "password"}, "text", "input", {"type": "password"}),
    "a moment": (TEXT | {"format": "date-time"}, "moment", "input", {"type": "datetime-local", "step": "1"}),
    "another format": (TEXT | {"format": "isbn"}, "text", "input", {"type": "text"}),
    "a format that is none": (TEXT | {"format": ["x"]}, "text", "input", {"type": "text"}),
    "an integer": ({"type": "integer"}, "integer", "input", {"type": "number", "step": "1"}),
    "a number": ({"type": "number"}, "number", "input", {"type": "number", "step": "any"}),
    "bounds": (
        {"type": "integer", "minimum": 1, "maximum": 5},
        "integer",
        "input",
        {"type": "number", "step": "1", "min": "1", "max": "5"},
    ),
    "exclusive bounds": (
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 5},
        "integer",
        "input",
        {"type": "number", "step": "1", "min": "2", "max": "4"},
    ),
    "fractions around integers": (
        {"type": "integer", "minimum": 0.5, "maximum": 4.5, "exclusiveMinimum": 0.2, "exclusiveMaximum": 4.9},
        "integer",
        "input",
        {"type": "number", "step": "1", "min": "1", "max": "4"},
    ),
    "bounds of numbers": (
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
        "number",
        "input",
        {"type": "number", "step": "any", "min": "0", "max": "0.5"},
    ),
    "bounds that are none": (
        {"type": "number", "minimum": True, "maximum": "5", "exclusiveMinimum": float("inf")},
        "number",
        "input",
        {"type": "number", "step": "any"},
    ),
    "a truth value": ({"type": "boolean"}, "check", "input", {}),
    "a truth value or null": ({"type": ["boolean", "null"]}, "choice", "select", {}),
    "a list": ({"enum": ["a", "b"]}, "choice", "select", {}),
    "a constant": ({"const": 7}, "choice", "select", {}),
    "constants": ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "choice", "select", {}),
    "several of a list": (
        {"type": "array", "items": {"enum": ["a", "b"]}},
        "choices",
        "select",
        {"multiple": True},
    ),
    "texts": ({"type": "array", "items": TEXT}, "lines", "textarea", {}),
    "numbers": ({"type": "array", "items": {"type": "number"}}, "json", "textarea", {"spellcheck": "false"}),
    "an object": ({"type": "object"}, "json", "textarea", {"spellcheck": "false"}),
    "anything": ({}, "json", "textarea", {"spellcheck": "false"}),
    "a schema that is true": (True, "json", "textarea", {"spellcheck": "false"}),
    "no schema": (7, "json", "textarea", {"spellcheck": "false"}),
    "one of several types": (
        {"anyOf": [TEXT, {"type": "integer"}]},
        "json",
        "textarea",
        {"spellcheck": "false"},
    ),
    "a reference": ({"$ref": "#/$defs/A"}, "integer", "input", {"type": "number", "step": "1"}),
    "a reference by way of others": ({"allOf": [{"$ref": "#/$defs/B"}]}, "text", "input", {"type": "text"}),
    "a reference to itself": ({"$ref": "#/$defs/C"}, "json", "textarea", {"spellcheck": "false"}),
    "a reference elsewhere": ({"$ref": "https://a.example/"}, "json", "textarea", {"spellcheck": "false"}),
    "a reference to nothing": ({"$ref": "#/$defs/D/x"}, "json", "textarea", {"spellcheck": "false"}),
}
DEFS = {"A": {"type": "integer"}, "B": {"$ref": "#/$defs/a~1b"}, "C": {"$ref": "#/$defs/C"}, "D": 7, "a/b": TEXT}


@pytest.mark.parametrize(("schema", "kind", "tag", "attributes"), CONTROLS.values(), ids=CONTROLS)
def test_each_schema_has_a_control(schema: Any, kind: str, tag: str, attributes: dict[str, Any]) -> None:
    found = field(schema, **{"$defs": DEFS})
    assert (found.kind, found.tag, dict(found.attributes)) == (kind, tag, attributes)


@pytest.mark.parametrize("schema", [None, 7, {}, {"properties": []}, {"properties": None}])
def test_what_has_no_properties_has_no_fields(schema: Any) -> None:
    assert fields_of(schema) == []


def test_a_field_has_the_words_of_its_property() -> None:
    schema = {"$ref": "#/$defs/A", "title": " The x ", "description": "What\nit is.", "default": 3}
    found = field(schema, required=False, **{"$defs": {"A": {"type": "integer", "title": "A", "default": 1}}})
    assert (found.label, found.hint, found.start) == ("The x", "What\nit is.", "3")
    assert field({"title": 7, "description": ["x"]}).label == "x"
    assert field({"type": "object"}).hint == "As JSON."
    assert field({"type": "array", "items": TEXT, "description": "Names."}).hint == "Names. One per line."
    assert (found.required, field(TEXT).required) == (False, True)
    [odd] = fields_of({"properties": {"x": TEXT}, "required": "x"})
    assert not odd.required


NULL = {"type": "null"}
NULLABLE: dict[str, Any] = {
    "anyOf": {"anyOf": [{"type": "integer"}, NULL]},
    "oneOf": {"oneOf": [NULL, {"type": "integer"}]},
    "a list of types": {"type": ["integer", "null"]},
    "by reference": {"anyOf": [{"$ref": "#/$defs/A"}, NULL]},
}


@pytest.mark.parametrize("schema", NULLABLE.values(), ids=NULLABLE)
def test_null_beside_one_type(schema: Any) -> None:
    found = field(schema, **{"$defs": DEFS})
    assert (found.kind, found.nullable, found.must_be_entered) == ("integer", True, False)
    assert found.argument("") is None
    assert found.argument("7") == 7
    assert field(schema, required=False, **{"$defs": DEFS}).argument("") is MISSING


def test_texts_stand_for_themselves_where_they_can() -> None:
    assert field({"enum": ["a", "b"]}).choices == [("a", "a", "a"), ("b", "b", "b")]
    mixed = field({"enum": [1, "1", True, None]})
    assert [text for text, _, _ in mixed.choices] == ["1", '"1"', "true"]
    assert mixed.nullable
    assert [mixed.argument(text) for text, _, _ in mixed.choices] == [1, "1", True]
    assert [text for text, _, _ in field({"enum": ["", "a"]}).choices] == ['""', '"a"']
    titled = field({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]})
    assert [label for _, label, _ in titled.choices] == ["One", "2"]


STARTS: dict[str, tuple[Any, Any]] = {
    "a text": (TEXT | {"default": "a"}, "a"),
    "a number": ({"type": "number", "default": 1.5}, "1.5"),
    "true": ({"type": "boolean", "default": True}, True),
    "false": ({"type": "boolean", "default": False}, False),
    "no truth value": ({"type": "boolean", "default": "yes"}, False),
    "one of a list": ({"enum": [1, True], "default": True}, "true"),
    "none of a list": ({"enum": ["a", "b"], "default": "c"}, ""),
    "the only one": ({"const": "a"}, "a"),
    "several": ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "default": ["a", "c"]}, ["a", "c"]),
    "several that are no list": ({"type": "array", "items": {"enum": ["a"]}, "default": "a"}, []),
    "texts": ({"type": "array", "items": TEXT, "default": ["a", "b"]}, "a\nb"),
    "texts that are none": ({"type": "array", "items": TEXT, "default": [1]}, ""),
    "JSON": ({"type": "object", "default": {"é": [1]}}, '{"é": [1]}'),
    "a moment": (TEXT | {"format": "date-time", "default": "2026-01-31T13:45:00Z"}, ""),
    "null": (TEXT | {"default": None}, ""),
}


@pytest.mark.parametrize(("schema", "start"), STARTS.values(), ids=STARTS)
def test_a_field_begins_with_its_default(schema: Any, start: Any) -> None:
    assert field(schema).start == start


ENTRIES: dict[str, tuple[Any, Any, Any]] = {
    "a text": (TEXT, " a ", " a "),
    "blanks": (TEXT, "  ", "  "),
    "an integer": ({"type": "integer"}, "-12", -12),
    "a large integer": ({"type": "integer"}, "9007199254740993", 9007199254740993),
    "an integer with an exponent": ({"type": "integer"}, "1e3", 1000),
    "a number": ({"type": "number"}, "1.5", 1.5),
    "a whole number": ({"type": "number"}, "3", 3),
    "checked": ({"type": "boolean"}, True, True),
    "not checked": ({"type": "boolean"}, False, False),
    "yes or no": ({"type": ["boolean", "null"]}, "false", False),
    "a choice": ({"enum": [1, 2]}, "2", 2),
    "choices": ({"type": "array", "items": {"enum": [1, 2]}}, ["2"], [2]),
    "no choices": ({"type": "array", "items": {"enum": [1, 2]}}, [], []),
    "lines": ({"type": "array", "items": TEXT}, "a\n\n b \r\nc", ["a", " b ", "c"]),
    "no lines": ({"type": "array", "items": TEXT}, " \n", []),
    "JSON": ({"type": "object"}, ' {"a": [1]} ', {"a": [1]}),
}


@pytest.mark.parametrize(("schema", "entered", "argument"), ENTRIES.values(), ids=ENTRIES)
def test_an_entry_is_an_argument(schema: Any, entered: Any, argument: Any) -> None:
    found = field(schema).argument(entered)
    assert (found, type(found)) == (argument, type(argument))


def test_a_moment_has_the_zone_of_its_user() -> None:
    found = field(TEXT | {"format": "date-time"}).argument("2026-01-31T13:45")
    assert re.fullmatch(r"2026-01-31T13:45:00[+-]\d\d:\d\d", found)
    assert datetime.fromisoformat(found) == datetime(2026, 1, 31, 13, 45).astimezone()


WRONG: dict[str, tuple[Any, str, str]] = {
    "no text": (TEXT, "", "required"),
    "no number": ({"type": "integer"}, " ", "required"),
    "a fraction": ({"type": "integer"}, "1.5", "whole number"),
    "a word": ({"type": "number"}, "one", "not a number"),
    "infinity": ({"type": "number"}, "1e999", "not a number"),
    "another choice": ({"enum": ["a"]}, "b", "choices"),
    "no JSON": ({"type": "object"}, "{a}", "JSON: Expecting"),
    "JSON for a prototype": ({"type": "object"}, '{"__proto__": {}}', "__proto__"),
    "no moment": (TEXT | {"format": "date-time"}, "today", "date"),
}


@pytest.mark.parametrize(("schema", "entered", "says"), WRONG.values(), ids=WRONG)
def test_an_entry_that_is_none_says_why(schema: Any, entered: str, says: str) -> None:
    with pytest.raises(WrongEntryError, match=says):
        field(schema).argument(entered)


@pytest.mark.parametrize("schema", [each[0] for each in ENTRIES.values()], ids=ENTRIES)
def test_what_is_optional_may_be_left_out(schema: Any) -> None:
    found = field(schema, required=False)
    assert not found.must_be_entered
    if found.kind not in ("check", "text"):
        assert found.argument([] if found.kind == "choices" else " ") is MISSING
    if found.kind == "text":
        assert found.argument("") is MISSING


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    """A place."""

    street: str


async def test_the_schemas_of_the_sdk() -> None:
    server = MCPServer("all")

    @server.tool()
    def use(
        colour: Colour,
        place: Place,
        size: Annotated[int, Field(ge=1, le=9, description="How large.")],
        at: datetime,
        day: date | None,
        hour: time = time(13),
        unit: Literal["m", "km"] = "km",
        tags: list[str] | None = None,
        units: list[Literal["m", "km"]] = [],  # noqa: B006  never changed
        loud: bool = True,
        quiet: bool | None = None,
        ratio: float = 0.5,
        more: dict[str, int] = {},  # noqa: B006
    ) -> str:
        return f"{colour} {place} {size} {at} {day} {hour} {unit} {tags} {units} {loud} {quiet} {ratio} {more}"

    [tool] = await server.list_tools()
    fields = fields_of(tool.input_schema)
    assert [(each.name, each.kind, each.label, each.required, each.nullable) for each in fields] == [
        ("colour", "choice", "colour", True, False),
        ("place", "json", "place", True, False),
        ("size", "integer", "Size", True, False),
        ("at", "moment", "At", True, False),
        ("day", "text", "Day", True, True),
        ("hour", "text", "Hour", False, False),
        ("unit", "choice", "Unit", False, False),
        ("tags", "lines", "Tags", False, True),
        ("units", "choices", "Units", False, False),
        ("loud", "check", "Loud", False, False),
        ("quiet", "choice", "Quiet", False, True),
        ("ratio", "number", "Ratio", False, False),
        ("more", "json", "More", False, False),
    ]
    entered = {"colour": "red", "place": '{"street": "A"}', "size": "3", "at": "2026-01-31T13:45"}
    given = {each.name: each.argument(entered.get(each.name, each.start)) for each in fields}
    result = await server.call_tool("use", {name: value for name, value in given.items() if value is not MISSING})
    assert "RED" in str(result)
    assert "street='A'" in str(result)
