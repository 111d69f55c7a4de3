"""Sample values for JSON Schemas: the arguments and the result of a tool that is shown in its view. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.references import resolve_reference
from mcpframe.kit.base.json_schema import Budget, error_of

Json = Mapping[str, Any]

_FORMATS = {
    "date": "2026-11-25",
    "date-time": "2026-11-25T12:00:00Z",
    "time": "12:00:00Z",
    "email": "somebody@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEEPEST = 12
MOST_VALUES = 2_000
"""The parts of one sample, the items of one list, and the characters of one text."""


class NoSample(ValueError):
    """No value of a schema was found; the text says why."""


def sample(schema: Json) -> Any:
    """Return a value that a schema accepts: with what the schema itself suggests, else a plain and small one.

    Raises:
        NoSample: None was found: the schema has rules such as `pattern`, is invalid, or too complex.
    """
    try:
        error_of(None, schema)  # raises for an invalid schema
        value = _value(schema, _Root(schema), 0)
        error = error_of(value, schema)
    except ValueError as reason:
        raise NoSample(str(reason)) from None
    if error:
        raise NoSample(error)
    return value


class _Root(Budget):
    """The document in which references are resolved, and the steps that are left for its sample."""

    def __init__(self, schema: Json) -> None:
        super().__init__(MOST_VALUES)
        self.schema = schema


def _value(schema: Any, root: _Root, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    root.spend()
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("examples", "enum"):
        if isinstance(schema.get(name), list) and schema[name]:
            return schema[name][0]
    if isinstance(schema.get("$ref"), str):
        return _value(_referred(schema["$ref"], root.schema), root, depth + 1)
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _value(schema[name][0], root, depth + 1)
    if isinstance(schema.get("allOf"), list):
        merged: dict[str, Any] = {}
        for part in filter(_is_object, schema["allOf"]):
            merged |= _referred(part["$ref"], root.schema) if "$ref" in part else part
        return _value({**merged, **{key: each for key, each in schema.items() if key != "allOf"}}, root, depth + 1)
    if "pattern" in schema:
        raise NoSample(f"no text was made up for the pattern {str(schema['pattern'])[:100]}: give the schema examples")
    return _of_type(schema, root, depth)


def _of_type(schema: Json, root: _Root, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(iter(kind), None)
    if kind == "object" or (kind is None and "properties" in schema):
        required = schema.get("required") or ()
        properties = schema.get("properties") or {}
        return {name: _value(properties.get(name), root, depth + 1) for name in required}
    if kind == "array":
        return [_value(schema.get("items"), root, depth + 1)] * _small(max(1, schema.get("minItems", 1)))
    if kind == "string":
        text = _FORMATS.get(schema.get("format", ""), "Sample")
        return text.ljust(_small(schema.get("minLength", 0)), "e")[: schema.get("maxLength")]
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    return True if kind == "boolean" else None


def _number(schema: Json, *, whole: bool) -> float:
    step = schema.get("multipleOf") or 1
    low = schema.get("minimum", schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else None)
    high = schema.get("maximum", schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else None)
    value = low if low is not None else min(step, high) if high is not None else step
    value = -(-value // step) * step  # the next multiple
    return int(value) if whole else value


def _referred(reference: object, root: Json) -> Json:
    schema = resolve_reference(reference, root)
    return schema if isinstance(schema, Mapping) else {}


def _is_object(schema: object) -> bool:
    return isinstance(schema, Mapping)


def _small(number: float) -> int:
    if number > MOST_VALUES:
        raise NoSample(f"a sample has at most {MOST_VALUES:,} items or characters, and the schema wants {number:,}")
    return int(number)
