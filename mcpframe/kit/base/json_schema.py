"""Checks values against JSON Schemas of strangers: bounded, without their patterns, and without fetching references.

MCP 2026-07-28 (server/tools) asks clients to bound the work that a schema can cause. A pattern could block the process
for hours, and a reference could fetch, so neither is followed: what they would decide is left to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MOST_STEPS = 20_000
"""The rules that one check applies. Tools of real servers need some hundreds."""

MOST_LEVELS = 60
"""The levels of a schema, of a value, and of rules within rules. Deeper ones end in errors of Python and jsonschema."""

_PATTERNS = ("pattern", "patternProperties")


class SchemaTooComplex(ValueError):
    """A schema or a value is nested too deeply, or has too many alternatives, to be checked in a bounded time."""


class Budget:
    """The steps that are left for one schema."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._left = steps
        self._level = 0

    def spend(self) -> None:
        """Take one step. Raises `SchemaTooComplex` if none is left."""
        if not self._left:
            raise SchemaTooComplex("the schema is too complex to be checked")
        self._left -= 1

    def limited(self, rule: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        """Return a rule of jsonschema that takes a step whenever it is applied."""

        def checked(*arguments: Any) -> Iterator[Any]:
            self.spend()
            if self._level == MOST_LEVELS:
                raise SchemaTooComplex("the schema refers to itself without an end")
            self._level += 1
            try:
                yield from rule(*arguments) or ()
            finally:
                self._level -= 1

        return checked


def error_of(value: Any, schema: Any) -> str | None:
    """Return why a value does not fit a schema, in one line; None if it does.

    Args:
        value: A JSON value.
        schema: A JSON Schema, of the dialect that its `$schema` names, by default 2020-12.

    Raises:
        SchemaTooComplex: It could not be decided within the bounds.
        ValueError: The schema is invalid, or has a reference to something that it does not contain.
    """
    from jsonschema import SchemaError
    from jsonschema.exceptions import best_match
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, dict | bool):
        raise ValueError("the schema is invalid: it is neither an object nor a boolean")
    parts = _objects(schema)
    _objects(value)
    named = schema.get("$schema", "") if isinstance(schema, dict) else ""
    try:
        dialect: Any = validator_for({"$schema": named if isinstance(named, str) else ""}, Draft202012Validator)
        dialect.check_schema(schema, format_checker=None)  # the format "regex" would compile patterns
        plain = {key: rule for key, rule in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
        validator = _bounded(dialect, parts)(plain, registry=Registry())
        fault = best_match(validator.iter_errors(value))
    except SchemaError as error:
        raise ValueError(f"the schema is invalid: {_line(error.message)}") from None
    except Unresolvable as error:
        raise ValueError(f"the schema does not contain what it refers to: {_line(str(error))}") from None
    if fault is None:
        return None
    place = fault.json_path.removeprefix("$").removeprefix(".")
    return f"{place}: {_line(fault.message)}" if place else _line(fault.message)


def _bounded(dialect: Any, parts: Sequence[Mapping[str, Any]]) -> Any:
    """Return a validator class whose rules spend a budget, without those that apply patterns.

    Args:
        dialect: The class of jsonschema.
        parts: The schema's objects, itself first.
    """
    from jsonschema.validators import extend

    budget = Budget()
    if any(isinstance(part.get("$schema"), str) for part in parts[1:]):  # jsonschema would go on with its own class
        raise SchemaTooComplex("a part of the schema names another dialect")
    left_out = list(_PATTERNS)
    if any("patternProperties" in part for part in parts):  # which decide what these apply to
        left_out += ["additionalProperties", "unevaluatedProperties"]
    rules = {key: _nothing if key in left_out else budget.limited(rule) for key, rule in dialect.VALIDATORS.items()}
    return extend(dialect, rules)


def _nothing(*_: Any) -> None:
    return None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return every object in a JSON value, the outermost first. Raises `SchemaTooComplex` beyond `MOST_LEVELS`."""
    schemas: list[Mapping[str, Any]] = []
    level = [value]
    for _ in range(MOST_LEVELS):
        objects = [part for part in level if isinstance(part, dict)]
        schemas += objects
        lists = [part for part in level if isinstance(part, list)]
        level = [item for part in objects for item in part.values()] + [item for part in lists for item in part]
        if not level:
            return schemas
    raise SchemaTooComplex("the schema or the value is nested too deeply to be checked")


def _line(text: str) -> str:
    return text.partition("\n")[0][:300]
