"""Read the id of a request or answer from the text of a message that must not be parsed.

A message over a limit must not be parsed, but the side that waits for it must get an error. The members of an object,
or of one object in it, are read here in any order and spelling; nested values are skipped without being built. The time
is linear in the length of the text, and the memory is that of one member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_STRING_OR_REST = re.compile(r'"(?:[^"\\]++|\\.)*+["\\]?+', re.DOTALL)
"""A string, or the rest of the text if no string ends: a failed search would restart at every quote."""
_SCALAR = re.compile(r'[^][{}",:\s]++')
# The text between two brackets of the same level; a flat group contains no other group.
_BETWEEN = r'[^][{}"]++|"(?:[^"\\]++|\\.)*+"'
_FLAT = re.compile(rf"[\[{{](?:{_BETWEEN})*+[\]}}]", re.DOTALL)
_BRACKET = re.compile(rf"(?:{_BETWEEN}|{_FLAT.pattern})*+([][{{}}])", re.DOTALL)
_MEMBER = r'\s*+"(?:[^"\\]|\\.){0,256}"\s*+:\s*+(?:"(?:[^"\\]|\\.)*"|[^][{}",:\s]++)\s*+'
_LAST_MEMBERS = re.compile(rf",({_MEMBER}(?:,{_MEMBER})*+)\}}\s*\Z", re.DOTALL)
_CHUNK = re.compile(r'(?:[^"]{1,4096}+|"(?:[^"\\]++|\\.)*+"){1,32}+', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^][{}]++")
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_BY_BRACKET = 1000
"""After this many brackets of one group, the rest is scanned in chunks."""

MEMBERS = ("id", "method", "result", "error")
"""The members of a JSON-RPC message that tell requests, answers and their ids."""

MOST_MEMBERS = 10_000
"""The most members of a message that are read: each costs more than in a parser, and messages have a few."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The part of a message that tells which side waits for it.

    Attributes:
        kind: `request` if it expects an answer, `response` if it is an answer, or `other`.
        id: the id as it is written: any JSON value but an array or object; None otherwise.
        method: the method, if it is a text.
    """

    kind: Literal["request", "response", "other"]
    id: Any = None
    method: str | None = None


def nesting(text: str) -> tuple[int, int]:
    """Return the deepest nesting of brackets outside of strings, and the number still open at the end of a text."""
    steps = _steps(text)
    return max(accumulate(steps, initial=0)), sum(steps)


def _steps(text: str) -> memoryview[int]:
    brackets = _NO_BRACKETS.sub("", _STRING_OR_REST.sub("", text))
    return memoryview(brackets.encode("ascii").translate(_STEPS)).cast("b")


class _Broken(Exception):
    """The rest of the text is not JSON."""


def outline(text: str) -> Outline:
    """Read the outline of a JSON-RPC message from its JSON text.

    Args:
        text: JSON text of any size and depth. If it is not JSON, the part before the error counts; of more than
            `MOST_MEMBERS` members, the first ones.

    Returns:
        The outline; of duplicate members the last one counts, as for every parser.
    """
    return outline_of(sketch(text, MEMBERS))


def sketch(text: str, members: Collection[str], body: str | None = None) -> dict[str, Any]:
    """Read some members of an object from its JSON text; see `outline` for the text.

    Args:
        text: JSON text.
        members: the names of the members.
        body: the name of one more, an object of which the members `MEMBERS` are read.

    Returns:
        The members found; None in place of an array or an object, except for `body`.
    """
    values: dict[str, Any] = {}
    with suppress(_Broken):
        _read_members(text, members, body, values)
    return values


def outline_of_ends(head: str, tail: str) -> Outline:
    """Read the outline of a JSON-RPC message whose middle was not kept.

    Args:
        head: the beginning of its text.
        tail: the end of its text. Only flat members after the last truncated or nested one count.
    """
    members = sketch(head, MEMBERS)
    if last := _LAST_MEMBERS.search(tail):
        members |= sketch("{" + last[1] + "}", MEMBERS)
    return outline_of(members)


def outline_of(body: Any) -> Outline:
    """Return the outline of a parsed JSON-RPC message."""
    if not isinstance(body, dict):
        return Outline("other")
    id_ = body.get("id")
    if isinstance(id_, list | dict):
        id_ = None
    if "method" in body:
        method = body["method"] if isinstance(body["method"], str) else None
        return Outline("request" if "id" in body else "other", id_, method)
    return Outline("response" if "result" in body or "error" in body else "other", id_)


def _read_members(text: str, names: Collection[str], body: str | None, found: dict[str, Any]) -> None:
    """Collect the members of these names; of `body`, if it is an object, those in `MEMBERS`."""
    most = iter(range(MOST_MEMBERS))
    for name, start in (members := _Members(text, 0, most)):
        if name == body and text.startswith("{", start):
            found[name] = message = {}
            for inner_name, inner_start in (inner := _Members(text, start, most)):
                value = inner.value_at(inner_start)
                if inner_name in MEMBERS:
                    message[inner_name] = value
            members.at = inner.at
            continue
        value = members.value_at(start)
        if name == body or name in names:
            found[name] = value


class _Members:
    """The members of the object at an offset of a text, as `(name, start of the value)`.

    The caller moves `at` behind each value, with `value_at` or otherwise; at the end it is behind the object. Each
    member takes an item of `most`; when none is left, the rest is not read.
    """

    def __init__(self, text: str, at: int, most: Iterator[int]) -> None:
        self.text = text
        self.at = at
        self.most = most

    def __iter__(self) -> Iterator[tuple[str, int]]:
        self._take("{")
        if self._peek() == "}":
            self._take("}")
            return
        for _ in self.most:
            self._peek()
            name = self._string()
            self._take(":")
            self._peek()
            yield name, self.at
            if self._peek() != ",":
                self._take("}")
                return
            self._take(",")
        raise _Broken

    def value_at(self, start: int) -> Any:
        """Move past a value, and return it; None in place of an array or an object."""
        self.at = start
        first = self.text[start : start + 1]
        if first == '"':
            return self._string()
        if first in ("{", "["):
            self._skip_group()
            return None
        scalar = _SCALAR.match(self.text, start)
        if not scalar:
            raise _Broken
        self.at = scalar.end()
        return _parsed(scalar[0]) if len(scalar[0]) <= 400 else None

    def _peek(self) -> str:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches nothing, too
        return self.text[self.at : self.at + 1]

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise _Broken
        self.at += 1

    def _string(self) -> str:
        string = _STRING.match(self.text, self.at)
        if not string:
            raise _Broken
        self.at = string.end()
        value = _parsed(string[0])
        return str(value)

    def _skip_group(self) -> None:
        if flat := _FLAT.match(self.text, self.at):
            self.at = flat.end()
            return
        self.at += 1
        depth = 1
        for _ in range(_BY_BRACKET):
            depth = self._next_bracket(depth)
            if depth == 0:
                return
        while chunk := _CHUNK.match(self.text, self.at):
            steps = _steps(chunk[0])
            if depth + min(accumulate(steps), default=0) <= 0:
                break  # it ends in this chunk
            depth += sum(steps)
            self.at = chunk.end()
        while depth:
            depth = self._next_bracket(depth)

    def _next_bracket(self, depth: int) -> int:
        bracket = _BRACKET.match(self.text, self.at)
        if not bracket:
            raise _Broken
        self.at = bracket.end()
        return depth + (1 if bracket[1] in "[{" else -1)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise _Broken from None
