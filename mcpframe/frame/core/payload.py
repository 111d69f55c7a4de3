"""Encode and decode JSON text within limits.

Rules kept here: a message's bytes, its nesting, no key that could reach a JavaScript prototype, and no text that is
ill-formed Unicode. The checks read the text with compiled searches, so that a message of many megabytes costs little
more than its parsing.
"""

from __future__ import annotations

import json
import re
from codecs import utf_16_le_encode
from math import isinf
from typing import Any, NoReturn

from mcpframe.frame.core.errors import MalformedMessage, MessageTooDeep, MessageTooLarge, PrototypeKey
from mcpframe.frame.core.outline import nesting

_SURROGATE = re.compile("[\ud800-\udfff]")
"""Surrogates in a Python text are never pairs: such a text has no UTF-8 form."""

_PIECE = 1 << 20
"""The number of characters encoded at once: memory is scarce in a page."""

_SPELT_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _number(text: str) -> float | int:
    """Return a number that has a fraction or an exponent: JavaScript writes integers from 1e21 on with an exponent."""
    value = float(text)
    return int(value) if "e+" in text and value.is_integer() else value


loads = json.JSONDecoder(parse_constant=_no_constant, parse_float=_number).decode
"""`json.loads` for JSON alone: `NaN` and `Infinity` are errors. Raises `ValueError` or `RecursionError`."""

_MANY_DIGITS = re.compile("[0-9]{309}")
_STRIDE = 30
_SAMPLED_DIGITS = re.compile("[0-9]{10}")
"""Contained in every 30th character of 309 digits: a search of all of them slows a call with 10 MB by half."""


def check_text(text: str, *, max_bytes: int, max_nesting: int) -> None:
    """Check JSON text against the limits without parsing it.

    Args:
        text: JSON text; if it is not JSON, only its size and brackets are checked.
        max_bytes: the most bytes in UTF-8.
        max_nesting: the deepest nesting of arrays and objects.

    Raises:
        MessageTooLarge: over `max_bytes`.
        MessageTooDeep: over `max_nesting`.
        MalformedMessage: more brackets than the limit, and they do not match.
    """
    size = len(text)
    if size <= max_bytes < size * 4:
        size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise MessageTooLarge(f"The message has {size:,} bytes; the limit is {max_bytes:,} (max_message_bytes).")
    # Deep nesting crashes the parser in Pyodide, where CPython's raises RecursionError.
    if text.count("[") + text.count("{") <= max_nesting:
        return
    deepest, left = nesting(text)
    if deepest > max_nesting and left:
        raise MalformedMessage("The message is not JSON: its brackets do not match.")
    if deepest > max_nesting:
        raise MessageTooDeep(f"The message is nested deeper than {max_nesting} levels (max_nesting).")


def decode(text: str, *, max_bytes: int, max_nesting: int) -> Any:
    """Parse JSON text within the limits, and check its content.

    Args:
        text: JSON text.
        max_bytes: as in `check_text`.
        max_nesting: as in `check_text`.

    Returns:
        The value: dict, list, str, int, float, bool or None.

    Raises:
        MessageTooLarge: over `max_bytes`.
        MessageTooDeep: over `max_nesting`.
        PrototypeKey: see `check_content`.
        MalformedMessage: not JSON, or see `check_content`.
    """
    value = parse(text, max_bytes=max_bytes, max_nesting=max_nesting)
    check_content(text, value)
    return value


def parse(text: str, *, max_bytes: int, max_nesting: int) -> Any:
    """Parse JSON text within the limits, like `decode`, but without a check of the content."""
    check_text(text, max_bytes=max_bytes, max_nesting=max_nesting)
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"The message is not JSON: {error}") from None


def check_content(text: str, value: Any = None) -> None:
    """Reject keys that could change a JavaScript prototype, and texts that are not well-formed Unicode.

    The rule for keys is that of npm's `secure-json-parse`: `__proto__` anywhere, and `constructor` where it holds an
    object with a `prototype`; a plain `constructor` key is an ordinary word and passes. Text with a lone surrogate has
    no form in UTF-8, so it could not be written to a file, a socket or a log (RFC 8259, section 8.2).

    Args:
        text: the JSON text of the value, searched first: most messages contain nothing suspicious.
        value: the parsed value, if it is already available.

    Raises:
        PrototypeKey: naming the key.
        MalformedMessage: for a lone surrogate.
    """
    raw = not is_well_formed(text)
    escaped = "\\u" in text
    spelt = raw or (escaped and _SPELT_SURROGATE.search(text) is not None)
    if not spelt and not escaped and '"__proto__"' not in text and '"prototype"' not in text:
        return
    todo = [json.loads(text) if value is None else value]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, dict):
            if "__proto__" in item:
                raise PrototypeKey("The message has a key '__proto__'.")
            constructor = item.get("constructor")
            if isinstance(constructor, dict) and "prototype" in constructor:
                raise PrototypeKey("The message has a key 'constructor' that holds a 'prototype'.")
            if spelt:
                todo.extend(item)
            todo.extend(item.values())
        elif spelt and isinstance(item, str) and not is_well_formed(item):
            raise MalformedMessage("The message has a text that is ill-formed Unicode: a surrogate stands alone.")


def is_well_formed(text: str) -> bool:
    """Return whether a text has a UTF-8 form: it contains no lone surrogate."""
    if text.isascii():
        return True
    try:
        for start in range(0, len(text), _PIECE):
            # Many times faster than a search. Not `str.encode`: that imports a module, and a page that has just been
            # restored from a snapshot would have to fetch all files of the library for it.
            utf_16_le_encode(text[start : start + _PIECE])
    except UnicodeEncodeError:
        return False
    return True


def overflows(text: str) -> bool:
    """Return whether JSON text has an integer that is infinite for JavaScript, beyond ±1.8e308."""
    if _SAMPLED_DIGITS.search(text[::_STRIDE]) is None or _MANY_DIGITS.search(text) is None:
        return False
    is_infinite = False

    def integer(digits: str) -> int:  # not `int`, which refuses more than 4,300 digits
        nonlocal is_infinite
        is_infinite = is_infinite or isinf(float(digits))
        return 0

    json.loads(text, parse_int=integer)
    return is_infinite


def well_formed(text: str) -> str:
    """Return a text with a replacement character (U+FFFD) in place of every lone surrogate."""
    return text if is_well_formed(text) else _SURROGATE.sub("\ufffd", text)


def encode(value: Any, *, exact: bool = False) -> str:
    """Return the JSON text of a value that was parsed from JSON, without spaces. It always has a UTF-8 form.

    Args:
        value: the value. A number that is not finite, such as 1e400, becomes null, as with `JSON.stringify`.
        exact: whether such a number is an error instead.

    Raises:
        ValueError: if the value contains itself; with `exact`, also for a number that is not finite.
    """
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError:
        if exact:
            raise
        finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
        text = json.dumps(finite, separators=(",", ":"), ensure_ascii=False)
    return text if is_well_formed(text) else json.dumps(json.loads(text), separators=(",", ":"))
