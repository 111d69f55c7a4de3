"""Which functions of a WebAssembly file serving runs: a profile, in `profiles/`, for each file by its SHA-256.

`python3 build.py profile` makes them, with the servers of the test suite; see `tests/wasm_profile`. A file without a
profile is not split.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "profiles"
WHOLE = "MCPFRAME_WHOLE_WASM"
"""The environment variable with which a build splits no file."""


@dataclass(frozen=True)
class WasmProfile:
    """The profile of a file.

    Attributes:
        file: The file's name.
        sha256: Its hash, in hex.
        later: The numbers of the functions that serving does not run.
        tables: The addresses of data that only they read.
    """

    file: str
    sha256: str
    later: frozenset[int]
    tables: tuple[range, ...] = ()


def profile_of(sha256: str) -> WasmProfile | None:
    """Return the profile of a file; None if there is none, or no file is to be split."""
    return profiles().get(sha256)


def profiles() -> Mapping[str, WasmProfile]:
    """Return all profiles, by the hash of their file; none if no file is to be split."""
    return _read(profiled())


def profiled() -> tuple[str, ...]:
    """Return the texts of all profiles; none if no file is to be split."""
    if os.environ.get(WHOLE):
        return ()
    return tuple(path.read_text("utf-8") for path in sorted(FOLDER.glob("*.json")))


@cache
def _read(texts: tuple[str, ...]) -> dict[str, WasmProfile]:
    parsed = [json.loads(text) for text in texts]
    return {
        each["sha256"]: WasmProfile(
            each["file"],
            each["sha256"],
            from_runs(each["later"]),
            tuple(range(start, end) for start, end in each.get("tables", [])),
        )
        for each in parsed
    }


def to_json(profile: WasmProfile) -> dict[str, Any]:
    """Return a profile as its file has it."""
    tables = [[each.start, each.stop] for each in profile.tables]
    about = {"file": profile.file, "sha256": profile.sha256, "later": to_runs(profile.later)}
    return {**about, "tables": tables} if tables else about


def to_runs(numbers: frozenset[int]) -> str:
    """Return numbers as text: `3-7 9 12-40`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def from_runs(text: str) -> frozenset[int]:
    """Return the numbers of a text; the inverse of `to_runs`."""
    ends = [[int(each) for each in run.split("-")] for run in text.split()]
    return frozenset(number for run in ends for number in range(run[0], run[-1] + 1))
