"""Reads `key=value` words as a tool's arguments: each value is converted to the type in the tool's schema."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcpframe.frame.core.references import resolve_reference
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
_NUMBERS = {"integer", "number"}


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
        CallError: A word has no `=`, names a property or has a value that the schema does not allow.
    """
    return {name: _value(name, text, schema) for name, text in split_pairs(pairs).items()}


def split_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Split `key=value` words. Raises `CallError` for a word without `=`, and for a key that is given twice."""
    by_name: dict[str, str] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise CallError(f"{pair!r} is not an argument: write key=value, or --args with a JSON object.")
        if name in by_name:
            raise CallError(f"The argument {name!r} is given twice.")
        by_name[name] = text
    return by_name


def properties_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an object's schema; empty if it has none, or is not well-formed."""
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the names that an object's schema requires; empty if it has none, or is not well-formed."""
    return [name for name in items_of(schema, "required") if isinstance(name, str)]


def items_of(schema: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under a key of a schema; empty if there is none."""
    items = schema.get(key)
    return items if isinstance(items, list) else []


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise `CallError` if an argument is unknown or missing, or of a type that the schema does not allow.

    What a JSON Schema validator accepts is never refused; rules that are not checked here are left to the server.
    """
    for name, value in arguments.items():
        types = _Named(name, schema).allowed
        kind = _JSON_TYPES[type(value)]
        is_whole = kind == "number" and value == int(value)
        if types is not None and kind not in types and not (is_whole and "integer" in types):
            raise CallError(_wrong_type(name, types, json.dumps(value)))
    missing = [name for name in required_of(schema) if name not in arguments]
    if missing:
        what = "the argument" if len(missing) == 1 else "the arguments"
        hints = [f" ({other!r} is not one of its arguments)" for other in undeclared(arguments, schema)]
        raise CallError(f"The tool needs {what} {', '.join(missing)}{''.join(hints[:1])}.")


def undeclared(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the arguments that the schema allows without naming them: they may be misspelled."""
    if not any(properties_of(part) for part, _ in _parts_of(schema)):
        return []
    return [name for name in arguments if not _Named(name, schema).declared]


class _Named:
    """A property of an object, as a schema declares it.

    Attributes:
        declared: Whether any part of the schema names it.
        allowed: The types that a value must have, as far as this is certain; None for any.
        likely: The types that the parts of the schema name for it, among them alternatives; None for any.

    Raises:
        CallError: The schema allows no property of that name.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        certain: list[set[str] | None] = []
        others: list[set[str] | None] = []
        names: list[str] = []
        closed = False
        for part, always in _parts_of(schema):
            own, further = properties_of(part), part.get("additionalProperties")
            names += own
            if name in own:
                (certain if always else others).append(_allowed(own[name], schema))
            elif isinstance(further, dict) and not part.get("patternProperties"):
                (certain if always else others).append(_allowed(further, schema))
            elif further is False and always and not part.get("patternProperties"):
                closed = True
        self.declared = name in names or bool(certain or others)
        if closed or (schema.get("unevaluatedProperties") is False and not self.declared and not _has_patterns(schema)):
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            listed = ", ".join(dict.fromkeys(names)) or "none"
            raise CallError(f"The tool has no argument {name!r}; {hint}it has: {listed}.")
        self.allowed = _both(certain)
        self.likely = self.allowed if self.allowed is not None else _either(others)


def _value(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value that a text stands for."""
    named = _Named(name, schema)
    types = named.likely
    value: Any
    try:
        value = read_json(text)
    except ValueError:
        value, kind = None, ""
    else:
        kind = _JSON_TYPES[type(value)]
        if kind == "number" and value == int(value) and types is not None and types & _NUMBERS == {"integer"}:
            value, kind = int(value), "integer"
    if types is None:  # any type is allowed: JSON if it can be read as JSON
        return value if kind else text
    if kind and kind != "string" and kind in types:
        return value
    if "string" in types or named.allowed is None:
        return text
    raise CallError(_wrong_type(name, types, repr(text)))


def _wrong_type(name: str, types: set[str], shown: str) -> str:
    allowed = " or ".join(sorted(types - {"integer"} if "number" in types else types)) or "left out"
    article = "" if not types else "an " if allowed[0] in "aio" else "a "
    return f"The argument {name!r} has to be {article}{allowed}, not {shown}."


def _parts_of(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Return the schemas that apply to the same value, each once, and whether they always apply."""
    left: list[tuple[Any, bool]] = [(schema, True)]
    seen: set[tuple[int, bool]] = set()
    while left:
        part, always = left.pop(0)
        if not isinstance(part, dict) or (id(part), always) in seen or (id(part), True) in seen:
            continue
        seen.add((id(part), always))
        yield part, always
        left.append((resolve_reference(part.get("$ref"), schema), always))
        left += [(option, always) for option in items_of(part, "allOf")]
        left += [(option, False) for key in ("anyOf", "oneOf") for option in items_of(part, key)]
        left += [(part.get(key), False) for key in ("if", "then", "else")]
        dependent = part.get("dependentSchemas")
        left += [(option, False) for option in (dependent.values() if isinstance(dependent, dict) else ())]


def _has_patterns(schema: Mapping[str, Any]) -> bool:
    return any(part.get("patternProperties") for part, _ in _parts_of(schema))


def _allowed(schema: Any, root: Mapping[str, Any]) -> set[str] | None:
    """Return the types that a schema allows; None for any. Each part is read once, however often it is referred to."""
    known: dict[int, set[str] | None] = {}

    def read(part: Any) -> set[str] | None:
        if not isinstance(part, dict):
            return set() if part is False else None
        if id(part) not in known:
            known[id(part)] = None  # a part within itself restricts nothing further
            alternatives = [list(map(read, options)) for key in ("anyOf", "oneOf") if (options := items_of(part, key))]
            always = [resolve_reference(part.get("$ref"), root), *items_of(part, "allOf")]
            known[id(part)] = _both([_types(part), *map(read, always), *map(_either, alternatives)])
        return known[id(part)]

    try:
        return read(schema)
    except RecursionError:
        return None


def _both(types: Iterable[set[str] | None]) -> set[str] | None:
    """Return the types that all allow; None for any."""
    restricting = [each for each in types if each is not None]
    return set.intersection(*restricting) if restricting else None


def _either(types: Sequence[set[str] | None]) -> set[str] | None:
    """Return the types that one of them allows; None for any."""
    restricting = [each for each in types if each is not None]
    return set().union(*restricting) if restricting and len(restricting) == len(types) else None


def _types(schema: Mapping[str, Any]) -> set[str] | None:
    kind = schema.get("type")
    if isinstance(kind, str | list):
        names = {kind} if isinstance(kind, str) else {name for name in kind if isinstance(name, str)}
        if not names <= set(_JSON_TYPES.values()):
            return None
    elif "const" in schema or items_of(schema, "enum"):
        values = [schema["const"]] if "const" in schema else items_of(schema, "enum")
        names = {_JSON_TYPES[type(value)] for value in values}
    else:
        return None
    return names | {"integer"} if "number" in names else names or None
