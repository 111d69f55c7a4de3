"""Checks of a value against a field, with messages for people."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from inspector.forms.fields import Field
from inspector.forms.json_values import MISSING, identity, same
from inspector.forms.patterns import PATTERNS


def problem(field: Field, value: Any) -> str | None:
    """Return the reason why a value does not fit, apart from its parts; None if it fits.

    Returns:
        The rest of a sentence that begins with the field's title, such as "must be at least 3".
    """
    if value is MISSING:
        return "is required" if field.required else None
    if value is None and field.nullable:
        return None
    schema = field.schema
    match field.kind:
        case "text" | "file":
            return _text(field, value)
        case "number" | "integer":
            return _number(field, value)
        case "boolean":
            return None if isinstance(value, bool) else "must be true or false"
        case "choice":
            if any(same(value, choice.value) for choice in field.choices):
                return None
            return f"must be {_listed([choice.title for choice in field.choices])}"
        case "array" | "choices":
            return _array(field, value)
        case "object":
            if not isinstance(value, dict):
                return "must be an object"
            return _count(schema, len(value), "minProperties", "maxProperties", ("entry", "entries"))
        case "union":
            if any(fits(option, value) for option in field.options):
                return None
            return f"must be {_listed([option.title for option in field.options])}"
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(same(value, each) for each in allowed):
        return f"must be one of the {len(allowed):,} values that the schema lists"
    return None


def fits(field: Field, value: Any) -> bool:
    """Return whether a value and all its parts fit a field."""
    if problem(field, value):
        return False
    if field.kind == "object" and isinstance(value, dict):
        members = {member.name: member for member in field.members}
        if any(not fits(member, value.get(name, MISSING)) for name, member in members.items()):
            return False
        more = field.more
        return all(more is not None and fits(more, part) for name, part in value.items() if name not in members)
    if field.kind in ("array", "choices") and isinstance(value, list):
        if len(value) < len(field.members) and any(member.required for member in field.members[len(value) :]):
            return False
        if len(value) > len(field.members) and field.more is None:
            return False
        places = [*field.members[: len(value)], *[field.more] * (len(value) - len(field.members))]
        return all(place is not None and fits(place, part) for place, part in zip(places, value, strict=True))
    return True


def _listed(titles: list[str]) -> str:
    shown = [title if len(title) < 60 else title[:57] + "…" for title in titles[:8]]
    if len(titles) > len(shown):
        return f"one of {', '.join(shown)} and {len(titles) - len(shown)} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _bound(schema: Mapping[str, Any], key: str) -> Any:
    """Return a bound if it is a number, else None."""
    value = schema.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _count(schema: Mapping[str, Any], count: int, least: str, most: str, unit: tuple[str, str]) -> str | None:
    low, high = _bound(schema, least), _bound(schema, most)
    if low is not None and count < low:
        return f"must have at least {low} {unit[low != 1]}"
    if high is not None and count > high:
        return f"must have at most {high} {unit[high != 1]}"
    return None


# Numbers


def _number(field: Field, value: Any) -> str | None:
    whole = field.kind == "integer"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)) or (whole and value != value // 1):
        return "must be a whole number" if whole else "must be a number"
    schema = field.schema
    low, high = _bound(schema, "minimum"), _bound(schema, "maximum")
    above, below = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    if schema.get("exclusiveMinimum") is True:  # the form of draft 4
        low, above = None, low
    if schema.get("exclusiveMaximum") is True:
        high, below = None, high
    for bound, holds, words in (
        (low, low is None or value >= low, "at least"),
        (high, high is None or value <= high, "at most"),
        (above, above is None or value > above, "more than"),
        (below, below is None or value < below, "less than"),
    ):
        if not holds:
            return f"must be {words} {bound}"
    step = _bound(schema, "multipleOf")
    if step is not None and step > 0 and Fraction(str(value)) % Fraction(str(step)):
        return f"must be a multiple of {step}"
    return None


# Lists


def _array(field: Field, value: Any) -> str | None:
    if not isinstance(value, list):
        return "must be a list"
    wrong = _count(field.schema, len(value), "minItems", "maxItems", ("item", "items"))
    if wrong or not field.schema.get("uniqueItems"):
        return wrong
    return "must not have an item twice" if _repeats(value) else None


def _repeats(items: list[Any]) -> bool:
    return len({identity(item) for item in items}) < len(items)


# Texts


def _text(field: Field, value: Any) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    schema = field.schema
    if wrong := _count(schema, len(value), "minLength", "maxLength", ("character", "characters")):
        return wrong
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and PATTERNS.matches(pattern, value) is False:  # if unknown, the server checks
        return f"must match the pattern {pattern}"
    if field.kind == "file":
        return None if _is_base64(value) else "must be base64, as a chosen file gives it"
    form = schema.get("format")
    told, holds = _FORMATS.get(form, ("", None)) if isinstance(form, str) else ("", None)
    return f"must be {told}" if holds and not holds(value) else None


def _is_base64(text: str) -> bool:
    plain = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_TIME = r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?"
_UUID = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def _is_date(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) and datetime.date.fromisoformat(text))
    except ValueError:
        return False


_FORMATS: dict[str, tuple[str, Any]] = {
    "date": ("a date such as 2026-01-31", _is_date),
    "time": ("a time such as 13:45:00Z", lambda text: re.fullmatch(_TIME, text, re.ASCII)),
    "date-time": (
        "a date and time such as 2026-01-31T13:45:00Z",
        lambda text: _is_date(text[:10]) and re.fullmatch("[Tt ]" + _TIME, text[10:], re.ASCII),
    ),
    "email": ("an e-mail address such as ada@example.org", lambda text: re.fullmatch(r"[^\s@]+@[^\s@]+", text)),
    "uri": ("an address such as https://example.org/", lambda text: re.fullmatch(r"[A-Za-z][\w+.-]*:\S*", text)),
    "uuid": ("a UUID such as 123e4567-e89b-12d3-a456-426614174000", lambda text: re.fullmatch(_UUID, text)),
    "color": ("a colour such as #2557b8", lambda text: re.fullmatch(r"#[0-9A-Fa-f]{3,8}|[a-z]+(\(.*\))?", text)),
}
_FORMATS["url"] = _FORMATS["uri"]
_FORMATS["colour"] = _FORMATS["color"]


def requirement(field: Field) -> str:
    """Return a short hint of the allowed values: bounds and format; empty if there are none."""
    schema = field.schema
    parts: list[str] = []
    if field.kind in ("number", "integer"):
        exclusive = {each: schema.get(each) is True for each in ("exclusiveMinimum", "exclusiveMaximum")}
        pairs = (
            ("minimum", "more than" if exclusive["exclusiveMinimum"] else "at least"),
            ("exclusiveMinimum", "more than"),
            ("maximum", "less than" if exclusive["exclusiveMaximum"] else "at most"),
            ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"),
        )
        parts = [f"{words} {_bound(schema, key)}" for key, words in pairs if _bound(schema, key) is not None]
    units = {"text": ("minLength", "maxLength", "characters"), "array": ("minItems", "maxItems", "items")}
    units["choices"] = units["array"]
    if field.kind in units:
        least, most, unit = units[field.kind]
        low, high = _bound(schema, least), _bound(schema, most)
        if low and high is not None:
            parts.append(f"{low} to {high} {unit}" if low != high else f"{low} {unit}")
        elif low or high is not None:
            parts.append(f"at least {low} {unit}" if low else f"at most {high} {unit}")
    form = schema.get("format")
    if field.kind == "text" and isinstance(form, str) and form in _FORMATS:
        parts.append(_FORMATS[form][0])
    return ", ".join(parts)
