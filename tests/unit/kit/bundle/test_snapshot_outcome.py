"""The report of a snapshot's page is checked before it is used or published."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from mcpframe.kit.bundle.snapshot.outcome import check_memory, checked

FOUND = {"error": None, "asked": None, "tasks": 0, "modules": ["sys"], "written": [], "opened": []}
TAKEN = {
    "found": FOUND,
    "own": [4, 8],
    "table": 3,
    "build": "00ff",
    "references": {"hiwireKeys": [1]},
}


@pytest.mark.parametrize(
    "outcome",
    [
        TAKEN,
        {"found": {**FOUND, "asked": {"what": "the time", "file": "server.py", "line": 3}}},
        {"found": {**FOUND, "asked": {"what": "randomness"}}},
        {"found": {**FOUND, "error": {"what": "ValueError: no"}}},
        {"found": {**FOUND, "held": "an object"}},
        {"found": {"waits": True}},
        {"drawnOrTimed": [1, 2], "bases": {"../_mcpframe/a.second.wasm": 4}},
        {"failure": "no", "stack": "at x"},
        {"tools": None},
        {"tools": [{"name": "a"}]},
    ],
)
def test_what_the_build_expects_stays_as_it_is(outcome: dict[str, Any]) -> None:
    assert checked(outcome) == outcome


@pytest.mark.parametrize(
    "outcome",
    [
        None,
        [],
        {"found": "nothing"},
        {"found": {**FOUND, "modules": [1]}},
        {"found": {**FOUND, "modules": ["x" * 2_000_000]}},
        {"found": {**FOUND, "tasks": "2"}},
        {**TAKEN, "own": [-1]},
        {**TAKEN, "table": 2**40},
        {**TAKEN, "build": "<script>"},
        {"tools": "none"},
    ],
)
def test_what_a_page_says_is_checked(outcome: object) -> None:
    with pytest.raises(ValueError, match="does not expect"):
        checked(outcome)


def sent(size: int, *parts: tuple[int, bytes], count: int | None = None) -> bytes:
    places = b"".join(struct.pack("<II", at, len(data)) for at, data in parts)
    head = struct.pack("<II", len(parts) if count is None else count, size)
    return head + places + b"".join(data for _, data in parts)


def test_memory_is_what_it_says() -> None:
    check_memory(sent(16, (0, b"abcd"), (12, b"efgh")))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        sent(2**31 + 5),
        sent(16, (14, b"abcd")),
        sent(16, (0, b"abcd"), count=2**30),
        sent(16, (0, b"abcd")) + b"more",
        sent(16, (0, b"abcd"))[:-1],
    ],
)
def test_memory_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="something else than memory"):
        check_memory(data)
