"""Schemas for Hypothesis: sound ones with values for them, and anything that may be in the place of one."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(max_size=6)
KEYS = st.sampled_from(["a", "b", "name", "max_results", "$ref", "ä", "", "__proto__"])
SCALARS = st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(-100, 100, allow_nan=False) | TEXTS
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=3), max_leaves=8
)

_KEYWORDS = [
    "type", "enum", "const", "properties", "required", "additionalProperties", "patternProperties", "items",
    "prefixItems", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "format", "minimum",
    "maximum", "exclusiveMinimum", "multipleOf", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "title", "default",
    "description", "examples", "example", "enumNames", "contentEncoding", "additionalItems", "minProperties",
]  # fmt: skip
_TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]


def any_schemas() -> st.SearchStrategy[Any]:
    """Schemas in which any keyword may have any value, often one that it may have."""

    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        good = {
            "type": st.sampled_from(_TYPES) | st.lists(st.sampled_from(_TYPES), max_size=3),
            "properties": st.dictionaries(KEYS, inner, max_size=3),
            "$defs": st.dictionaries(KEYS, inner, max_size=2),
            "required": st.lists(KEYS, max_size=2),
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#/$defs/b", "x"]),
            "description": st.sampled_from(["", "Example: 1", "Text. Example: {", "Example: [[[[."]),
            "pattern": st.sampled_from(["(", "^a*$", "(a*)*", "[", "\\"]),
        }
        for key in ("anyOf", "oneOf", "allOf", "prefixItems", "enum", "examples"):
            good[key] = st.lists(inner, max_size=3)
        for key in ("items", "additionalProperties", "not", "const", "default"):
            good[key] = inner
        return st.lists(st.sampled_from(_KEYWORDS), max_size=5, unique=True).flatmap(
            lambda keys: st.fixed_dictionaries({key: st.one_of(good.get(key, JSON), JSON) for key in keys})
        )

    return st.recursive(JSON | st.booleans() | st.just({}), grow, max_leaves=6)


@st.composite
def sound_schemas(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    """A schema whose every keyword the form understands, and a strategy of values that are near to it."""
    kinds = ["string", "integer", "number", "boolean", "enum", "null", "nullable"]
    kind = draw(st.sampled_from(kinds + ["object", "array", "tuple", "union", "map", "allOf"] * (depth > 0)))
    schema, values = draw(_SOUND[kind](depth))
    if draw(st.booleans()):
        schema = {**schema, "default": draw(values)}
    return schema, values


@st.composite
def _string(draw: st.DrawFn, depth: int) -> Any:
    low, high = sorted([draw(st.integers(0, 4)), draw(st.integers(0, 6))])
    schema: dict[str, Any] = {"type": "string"}
    schema |= draw(st.sampled_from([{}, {"minLength": low}, {"maxLength": high}, {"pattern": "^[a-c]*$"}]))
    return schema, st.text("abcd ", max_size=6)


@st.composite
def _number(draw: st.DrawFn, depth: int) -> Any:
    schema: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    for key in draw(
        st.lists(st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), max_size=2)
    ):
        schema[key] = draw(st.integers(-5, 5))
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.integers(1, 4))
    return schema, st.integers(-8, 8) | st.sampled_from([0.5, 1.0, -2.0, 3.25])


@st.composite
def _enum(draw: st.DrawFn, depth: int) -> Any:
    values = draw(st.lists(SCALARS, min_size=1, max_size=4))
    shape = draw(st.sampled_from(["enum", "anyOf", "const"]))
    if shape == "const":
        return {"const": values[0]}, st.sampled_from(values)
    schema = {"enum": values} if shape == "enum" else {"anyOf": [{"const": value, "title": "x"} for value in values]}
    return schema, st.sampled_from(values)


@st.composite
def _nullable(draw: st.DrawFn, depth: int) -> Any:
    schema, values = draw(sound_schemas(max(depth - 1, 0)))
    return {draw(st.sampled_from(["anyOf"])): [schema, {"type": "null"}]}, values | st.none()


@st.composite
def _object(draw: st.DrawFn, depth: int) -> Any:
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=3, unique=True))
    members = {name: draw(sound_schemas(depth - 1)) for name in names}
    schema: dict[str, Any] = {"type": "object", "properties": {name: made[0] for name, made in members.items()}}
    schema["required"] = [name for name in names if draw(st.booleans())]
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    values = st.fixed_dictionaries({}, optional={name: made[1] for name, made in members.items()})
    return schema, values


@st.composite
def _map(draw: st.DrawFn, depth: int) -> Any:
    schema, values = draw(sound_schemas(depth - 1))
    made = {"type": "object", "additionalProperties": schema, "minProperties": draw(st.integers(0, 2))}
    return made, st.dictionaries(TEXTS, values, max_size=3)


@st.composite
def _array(draw: st.DrawFn, depth: int) -> Any:
    item, values = draw(sound_schemas(depth - 1))
    schema: dict[str, Any] = {"type": "array", "items": item}
    schema |= draw(st.sampled_from([{}, {"minItems": 1}, {"maxItems": 2}, {"uniqueItems": True}, {"minItems": 3}]))
    return schema, st.lists(values, max_size=4)


@st.composite
def _tuple(draw: st.DrawFn, depth: int) -> Any:
    places = draw(st.lists(sound_schemas(depth - 1), min_size=1, max_size=3))
    schema: dict[str, Any] = {"type": "array", "prefixItems": [each[0] for each in places]}
    schema |= draw(st.sampled_from([{}, {"minItems": len(places)}, {"items": False}, {"minItems": 1, "maxItems": 3}]))
    whole = st.tuples(*(each[1] for each in places)).map(list)
    return schema, whole | whole.map(lambda value: value[:1])


@st.composite
def _union(draw: st.DrawFn, depth: int) -> Any:
    made = draw(st.lists(sound_schemas(depth - 1), min_size=2, max_size=3))
    return {"anyOf": [each[0] for each in made]}, st.one_of([each[1] for each in made])


@st.composite
def _all_of(draw: st.DrawFn, depth: int) -> Any:
    name = draw(st.sampled_from(["A", "B/C"]))
    schema, values = draw(sound_schemas(depth - 1))
    if draw(st.booleans()):
        return {"allOf": [schema], "description": name}, values
    return {"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 5}, {"minimum": 1}]}, st.integers(0, 7)


_SOUND: dict[str, Any] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": lambda depth: st.just(({"type": "boolean"}, st.booleans())),
    "null": lambda depth: st.just(({"type": "null"}, st.none())),
    "enum": _enum,
    "nullable": _nullable,
    "object": _object,
    "map": _map,
    "array": _array,
    "tuple": _tuple,
    "union": _union,
    "allOf": _all_of,
}
