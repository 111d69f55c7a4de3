"""JSON: values of a form, and their text for people."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from mcpframe.hosts import visible


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()
"""No value."""


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: true is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def identity(value: Any) -> Any:
    """Return a hashable key, the same for equal values."""
    if isinstance(value, list):
        return ("list", *map(identity, value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, identity(part)) for key, part in value.items()))
    return (isinstance(value, bool), value)


MAX_DIGITS = 1000

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class NotJson(ValueError):
    """A text is not JSON. The message is the rest of a sentence that begins with the field's name."""


def read_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        NotJson: the text is not JSON; the message has the line and column.
    """
    if not text.strip():
        raise NotJson("is empty; write {} for nothing, or null")
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        hint = ""
        if error.pos == len(text) - len(text.lstrip()) and text.strip().isprintable() and len(text) < 60:
            hint = f"; a text needs quotes: {json.dumps(text.strip(), ensure_ascii=False)}"
        where = f"line {error.lineno}, column {error.colno}"
        what = error.msg[0].lower() + error.msg[1:]
        raise NotJson(f"is not JSON: {what} at {where}{hint}") from None
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except NotJson:
        raise
    except ValueError as error:  # a number with too many digits
        raise NotJson(f"is not JSON: {error}") from None


def write_json(value: Any) -> str:
    """Return the JSON text of a value, over several lines if it has parts; invisible characters are escapes in it."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text if visible(text) == text else json.dumps(value, indent=2)


def _refuse(name: str) -> Any:
    raise NotJson(f"is not JSON: it has no {name}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotJson(f"has the key {json.dumps(twice, ensure_ascii=False)} twice in one object")
    return made


def as_number(text: str, *, whole: bool) -> Any:
    """Return the number in a text, `MISSING` for none, or the text itself if it is not a number."""
    plain = text.strip()
    if not plain:
        return MISSING
    if not _NUMBER.fullmatch(plain) or len(plain) > MAX_DIGITS:
        return text
    if re.fullmatch(r"[+-]?\d+", plain, re.ASCII):
        return int(plain)
    number = float(plain)
    if number in (float("inf"), float("-inf")):
        return text
    return int(number) if whole and number.is_integer() else number
