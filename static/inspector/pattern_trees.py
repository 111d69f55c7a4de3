"""Regular expressions of ECMA-262 with the flag `u`, as used in JSON Schema, parsed into trees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["Ahead", "At", "Char", "Either", "Repeat", "Sequence", "Test", "Tree", "Unknown", "read_pattern"]

MAX_DEPTH: Final = 40

Test = Callable[[str], bool]


class Unknown(Exception):
    """A pattern is wrong, or has an unsupported feature."""


def read_pattern(pattern: str) -> Tree:
    """Return the tree of a pattern.

    Raises:
        Unknown: It is not a valid pattern, or has a lookbehind, a back reference, or flags.
    """
    parser = _Parser(pattern)
    tree = parser.alternatives(0)
    if parser.at < len(pattern):
        raise Unknown
    return tree


@dataclass(frozen=True)
class Char:
    """One character.

    Attributes:
        test: Returns whether a character matches.
        cost: How many comparisons the test takes.
    """

    test: Test
    cost: int = 1


@dataclass(frozen=True)
class At:
    """A condition on the position, such as `^`."""

    holds: Callable[[str, int], bool]


@dataclass(frozen=True)
class Ahead:
    """A lookahead."""

    part: Tree
    wanted: bool


@dataclass(frozen=True)
class Sequence:
    parts: list[Tree]


@dataclass(frozen=True)
class Either:
    parts: list[Tree]


@dataclass(frozen=True)
class Repeat:
    part: Tree
    least: int
    most: int | None


Tree = Char | At | Ahead | Sequence | Either | Repeat

_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS: Final = frozenset("0123456789")
_LINE_ENDS: Final = frozenset("\n\r\u2028\u2029")
_SPACES: Final = frozenset("\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | set(
    map(chr, range(0x2000, 0x200B))
)
_CLASSES: Final[dict[str, Test]] = {
    "d": _DIGITS.__contains__,
    "w": _WORD.__contains__,
    "s": _SPACES.__contains__,
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "0": "\0"}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_QUANTIFIERS: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT: Final = re.compile(r"\{(\d{1,6})(?:(,)(\d{1,6})?)?\}")
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}")
_PROPERTY: Final = re.compile(r"\{(?:(?:General_Category|gc)=)?([A-Z][a-z]?)\}")
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_$][\w$]*>)")


def _not(test: Test) -> Test:
    return lambda char: not test(char)


def _is_begin(text: str, place: int) -> bool:
    return place == 0


def _is_end(text: str, place: int) -> bool:
    return place == len(text)


def _is_edge(text: str, place: int) -> bool:
    before = place > 0 and text[place - 1] in _WORD
    return before != (place < len(text) and text[place] in _WORD)


class _Parser:
    """Parses a pattern.

    Attributes:
        at: the position of the next character.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0

    def alternatives(self, depth: int) -> Tree:
        """Parse up to the end of the pattern, or of a group."""
        if depth > MAX_DEPTH:
            raise Unknown
        found = [self._sequence(depth)]
        while self._take("|"):
            found.append(self._sequence(depth))
        return found[0] if len(found) == 1 else Either(found)

    def _next(self) -> str:
        return self._pattern[self.at : self.at + 1]

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self._pattern, self.at)
        self.at = found.end() if found else self.at
        return found

    def _read(self) -> str:
        char = self._next()
        if not char:
            raise Unknown
        self.at += 1
        return char

    def _sequence(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while self._next() not in ("", "|", ")"):
            part = self._atom(depth)
            parts.append(part if isinstance(part, At | Ahead) else self._repeated(part))
        return Sequence(parts)

    def _repeated(self, part: Tree) -> Tree:
        if self._next() in _QUANTIFIERS:
            least, most = _QUANTIFIERS[self._read()]
        elif count := self._match(_COUNT):
            least = int(count[1])
            most = int(count[3]) if count[3] else None if count[2] else least
            if most is not None and most < least:
                raise Unknown
        else:
            return part
        self._take("?")  # a lazy quantifier matches the same texts
        return Repeat(part, least, most)

    def _atom(self, depth: int) -> Tree:
        char = self._read()
        match char:
            case "^":
                return At(_is_begin)
            case "$":
                return At(_is_end)
            case ".":
                return Char(_not(_LINE_ENDS.__contains__))
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise Unknown
        return Char(char.__eq__)

    def _group(self, depth: int) -> Tree:
        ahead = {True: self._take("?="), False: self._take("?!")}
        if not any(ahead.values()) and self._next() == "?" and not self._match(_GROUP):
            raise Unknown  # lookbehind, flags
        tree = self.alternatives(depth + 1)
        if not self._take(")"):
            raise Unknown
        return Ahead(tree, ahead[True]) if any(ahead.values()) else tree

    def _escape(self) -> Tree:
        if self._take("b"):
            return At(_is_edge)
        if self._take("B"):
            return At(lambda text, place: not _is_edge(text, place))
        found = self._escaped()
        return Char(found.__eq__ if isinstance(found, str) else found)

    def _escaped(self) -> str | Test:
        """Parse what follows a backslash, in a class or outside: a character, or a test."""
        if found := self._match(_HEX):
            code = int(found[1] or found[2] or found[3], 16)
            if code > 0x10FFFF:
                raise Unknown
            return chr(code)
        char = self._read()
        if char in _CONTROLS and not (char == "0" and self._next() in _DIGITS and self._next()):
            return _CONTROLS[char]
        if char.lower() in _CLASSES:
            test = _CLASSES[char.lower()]
            return test if char.islower() else _not(test)
        if char in "pP" and (found := self._match(_PROPERTY)):
            category = found[1]
            test = lambda each: unicodedata.category(each).startswith(category)  # noqa: E731
            return test if char == "p" else _not(test)
        if char == "c" and self._next().isascii() and self._next().isalpha():
            return chr(ord(self._read()) % 32)
        if char in _SYNTAX or char == "-" or not (char.isalnum() or char == "_"):
            return char
        raise Unknown

    def _class(self) -> Char:
        inverted = self._take("^")
        chars: set[str] = set()
        ranges: list[tuple[str, str]] = []
        tests: list[Test] = []
        while not self._take("]"):
            first = self._class_atom()
            if self._next() == "-" and self._pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self._take("-")
                last = self._class_atom()
                if not isinstance(first, str) or not isinstance(last, str) or last < first:
                    raise Unknown
                ranges.append((first, last))
            elif isinstance(first, str):
                chars.add(first)
            else:
                tests.append(first)

        def test(char: str) -> bool:
            return char in chars or any(low <= char <= high for low, high in ranges) or any(t(char) for t in tests)

        return Char(_not(test) if inverted else test, 1 + len(ranges) + len(tests))

    def _class_atom(self) -> str | Test:
        char = self._read()
        if char != "\\":
            return char
        return "\b" if self._take("b") else self._escaped()
