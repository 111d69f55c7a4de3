"""JSON text in and out of a message, within limits.

Rules kept here: a message's bytes, its nesting, and no key that could reach a JavaScript prototype. The checks read the
text with compiled searches, so that a message of many megabytes costs little more than its parsing.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from mcpframe.frame.errors import MalformedMessage, MessageTooDeep, MessageTooLarge, PrototypeKey

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')  # possessive: linear, whatever the text
_INNERMOST = re.compile(r"\[[^][{}]*\]|\{[^][{}]*\}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def check_text(text: str, *, max_bytes: int, max_nesting: int) -> None:
    """Check JSON text against the limits without parsing it.

    Args:
        text: JSON text; where it is not JSON, only its size and brackets are judged.
        max_bytes: how many bytes it may have in UTF-8.
        max_nesting: how many arrays and objects may stand inside each other.

    Raises:
        MessageTooLarge: over `max_bytes`.
        MessageTooDeep: over `max_nesting`.
        MalformedMessage: so many brackets that they matter, and they do not match.
    """
    size = len(text)
    if size <= max_bytes < size * 4:
        size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise MessageTooLarge(f"The message has {size:,} bytes; the limit is {max_bytes:,} (max_message_bytes).")
    if text.count("[") + text.count("{") > max_nesting and _deeper_than(text, max_nesting):
        raise MessageTooDeep(f"The message is nested deeper than {max_nesting} levels (max_nesting).")


def _deeper_than(text: str, limit: int) -> bool:
    """Tell whether brackets outside strings are nested deeper than the limit, peeling one level off a pass."""
    brackets = re.sub(r"[^][{}]+", "", _STRING.sub("", text))
    for _ in range(limit):
        if not brackets:
            return False
        brackets, peeled = _INNERMOST.subn("", brackets)
        if not peeled:
            # Not left to the parser: in Pyodide it dies of nesting, where CPython's raises RecursionError.
            raise MalformedMessage("The message is not JSON: its brackets do not match.")
    return bool(brackets)


def decode(text: str, *, max_bytes: int, max_nesting: int) -> Any:
    """Parse JSON text within the limits.

    Args:
        text: JSON text.
        max_bytes: as in `check_text`.
        max_nesting: as in `check_text`.

    Returns:
        The value: dict, list, str, int, float, bool or None.

    Raises:
        MessageTooLarge: over `max_bytes`.
        MessageTooDeep: over `max_nesting`.
        PrototypeKey: see `check_keys`.
        MalformedMessage: not JSON.
    """
    check_text(text, max_bytes=max_bytes, max_nesting=max_nesting)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"The message is not JSON: {error}") from None
    check_keys(text, value)
    return value


def check_keys(text: str, value: Any = None) -> None:
    """Refuse keys through which data could change a JavaScript prototype.

    The rule is that of npm's `secure-json-parse`: `__proto__` anywhere, and `constructor` where it holds an object with
    a `prototype`; a plain `constructor` key is an ordinary word and passes.

    Args:
        text: the JSON text of the value, searched first: most messages hold neither word. The escape `\\u` counts as
            a hit too, as it can spell a key another way.
        value: the parsed value, where there is one already.

    Raises:
        PrototypeKey: naming the key.
    """
    if '"__proto__"' not in text and '"prototype"' not in text and "\\u" not in text:
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
            todo.extend(item.values())


def encode(value: Any) -> str:
    """Give the JSON text of a value, without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
