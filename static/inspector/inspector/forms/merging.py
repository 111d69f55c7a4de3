"""Merges schemas that apply together: those of `allOf`, and a reference with keywords beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from inspector.forms.json_values import same


class Unfit(Exception):
    """A schema that no field can show."""


_GREATER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LESS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def merge(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the values allowed by both. Titles, descriptions and the like are taken from `other`.

    Raises:
        Unfit: no value fits both, or no single schema can describe the values that fit.
    """
    merged = {**one, **other}
    for key in one.keys() & other.keys():
        merged[key] = _both(key, one[key], other[key])
    return merged


def _both(key: str, one: Any, other: Any) -> Any:
    if same(one, other):
        return other
    if key in _GREATER or key in _LESS:
        numbers = [each for each in (one, other) if isinstance(each, (int, float)) and not isinstance(each, bool)]
        if len(numbers) < 2:
            return other
        return max(numbers) if key in _GREATER else min(numbers)
    if key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = {name: {"allOf": [one[name], other[name]]} for name in one if name in other}
        return {**one, **other, **shared}
    if key in ("required", "enum") and isinstance(one, list) and isinstance(other, list):
        if key == "required":
            return [*one, *(name for name in other if name not in one)]
        return [value for value in one if any(same(value, each) for each in other)]
    if key == "type":
        return _types(one, other)
    if key in ("items", "additionalProperties"):
        return False if False in (one, other) else {"allOf": [one, other]}
    if key == "multipleOf" and isinstance(one, int) and isinstance(other, int):
        return math.lcm(one, other)
    if key == "uniqueItems":
        return True
    if key in ("const", "anyOf", "oneOf", "prefixItems", "patternProperties"):
        raise Unfit
    return other


def _types(one: Any, other: Any) -> Any:
    first, second = (each if isinstance(each, list) else [each] for each in (one, other))
    shared = [each for each in first if each in second]
    if "integer" not in shared and {"integer", "number"} <= {*map(str, first), *map(str, second)}:
        shared.append("integer")
    if not shared:
        raise Unfit
    return shared if len(shared) > 1 else shared[0]
