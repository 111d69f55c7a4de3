"""Reads `key=value` words as a tool's arguments: each value is converted to the type in the tool's schema."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcpframe.kit.base.errors import CallError

_JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
    list: "array",
    dict: "object",
}
_DEPTH = 20


def read_json(text: str) -> Any:
    """Read JSON as in RFC 8259: without NaN and infinity. Numbers or nesting that Python cannot read are errors, too.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def parse_pairs(pairs: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read `key=value` words.

    Args:
        schema: The tool's input schema.

    Raises:
        CallError: A word has no `=`, names no property, or has a value that the schema does not allow.
    """
    return {name: _value(name, text, _property(name, schema), schema) for name, text in split_pairs(pairs).items()}


def split_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Split `key=value` words. Raises `CallError` for a word without `=`, and for a key that is given twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise CallError(f"{pair!r} is no argument: write key=value, or --args with a JSON object.")
        if name in found:
            raise CallError(f"The argument {name!r} is given twice.")
        found[name] = text
    return found


def properties_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an object's schema; empty if it has none, or is not well-formed."""
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the names that an object's schema requires; empty if it has none, or is not well-formed."""
    return [name for name in items_of(schema, "required") if isinstance(name, str)]


def items_of(schema: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under a key of a schema; empty if there is none."""
    found = schema.get(key)
    return found if isinstance(found, list) else []


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise `CallError` if an argument is unknown or missing, or of a type that the schema does not allow."""
    for name, value in arguments.items():
        types = {kind for option in _plain(_property(name, schema), schema, 0) for kind in _types(option)}
        kind = _JSON_TYPES[type(value)]
        is_whole = kind == "number" and value == int(value)
        if (
            types
            and kind not in types
            and not (kind == "integer" and "number" in types)
            and not (is_whole and "integer" in types)
        ):
            raise CallError(_wrong_type(name, types, json.dumps(value)))
    missing = [name for name in required_of(schema) if name not in arguments]
    if missing:
        what = "the argument" if len(missing) == 1 else "the arguments"
        raise CallError(f"The tool needs {what} {', '.join(missing)}.")


def _property(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = properties_of(schema)
    if name in properties:
        found: Mapping[str, Any] = properties[name] if isinstance(properties[name], dict) else {}
        return found
    more = schema.get("additionalProperties", not properties)
    if more:
        return more if isinstance(more, dict) else {}
    close = difflib.get_close_matches(name, properties, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise CallError(f"The tool has no argument {name!r}; {hint}it has: {', '.join(properties) or 'none'}.")


def _value(name: str, text: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    options = list(_plain(schema, root, 0))
    types = {kind for option in options for kind in _types(option)}
    value: Any
    try:
        value = read_json(text)
    except ValueError:
        value, kind = None, ""
    else:
        kind = _JSON_TYPES[type(value)]
        if kind == "number" and value == int(value) and "number" not in types and "integer" in types:
            value, kind = int(value), "integer"
    if not types:  # any type is allowed: JSON if it can be read as JSON
        return value if kind else text
    if kind and kind != "string" and (kind in types or (kind == "integer" and "number" in types)):
        return value
    if "string" in types:
        return text
    raise CallError(_wrong_type(name, types, repr(text)))


def _wrong_type(name: str, types: set[str], shown: str) -> str:
    allowed = " or ".join(sorted(types))
    article = "an" if allowed[0] in "aio" else "a"
    return f"The argument {name!r} has to be {article} {allowed}, not {shown}."


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """Return the schema with its references and alternatives resolved."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and depth < _DEPTH:
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part, {}) if isinstance(target, dict) else {}
        yield from _plain(target if _is_object(target) else {}, root, depth + 1)
        return
    options = [option for key in ("anyOf", "oneOf", "allOf") for option in items_of(schema, key)]
    if options and depth < _DEPTH:
        for option in filter(_is_object, options):
            yield from _plain(option, root, depth + 1)
        return
    yield schema


def _is_object(schema: object) -> bool:
    return isinstance(schema, dict)


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, list):
        return [name for name in kind if isinstance(name, str)]
    values = [schema["const"]] if "const" in schema else items_of(schema, "enum")
    return [_JSON_TYPES[type(value)] for value in values]
