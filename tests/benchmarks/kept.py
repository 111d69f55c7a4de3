"""The file that keeps what was measured: one line of JSON a figure, added as soon as it is known.

Later runs add to it, so that parts that were measured one by one make one table. A line with `done` says that a part
has been measured to its end: its figures of earlier runs no longer count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.machine import Setting

AGAINST = "against"
"""The part that compares with another checkout. Its figures are of one commit, and not for the documentation."""


@dataclass(frozen=True)
class Row:
    """A figure that was measured.

    Attributes:
        part: The part of the benchmark that it belongs to.
        figure: The figure.
        setting: When and where it was measured.
    """

    part: str
    figure: Figure
    setting: Setting

    @property
    def key(self) -> tuple[str, str]:
        """What no two rows of a table share."""
        return self.figure.name, self.figure.peer_name

    @property
    def doubtful(self) -> bool:
        """Whether it is a time, of a machine that others used, too."""
        return self.setting.busy and self.figure.unit in ("ms", "s")

    def as_json(self) -> dict[str, Any]:
        """Everything about it, with what follows from it."""
        figure = {**asdict(self.figure), "ratio": self.figure.ratio, "met": self.figure.met}
        return {"part": self.part, "figure": figure, "setting": asdict(self.setting)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Row:
        """The inverse of `as_json`."""
        figure = {name: value for name, value in data["figure"].items() if name not in ("ratio", "met")}
        figure["goal"] = Goal(**figure["goal"]) if figure["goal"] else None
        return cls(data["part"], Figure(**figure), Setting(**data["setting"]))


@dataclass
class Kept:
    """The kept results of runs.

    Attributes:
        path: The file.
        rows: The latest row of each key.
        done: The parts that were measured to their end.
    """

    path: Path
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    _measured: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Kept:
        """Read a file; one that does not exist has nothing. A line that a run did not write to its end is left out."""
        kept = cls(path)
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                kept._take(json.loads(line))
            except ValueError:
                continue
        return kept

    def add(self, row: Row) -> None:
        """Add a row, to the file at once."""
        self._write(row.as_json())

    def finish(self, part: str) -> None:
        """Note that a part was measured to its end."""
        self._write({"done": part})

    def of(self, parts: Sequence[str]) -> list[Row]:
        """The rows of these parts, in their order."""
        return sorted((row for row in self.rows.values() if row.part in parts), key=lambda row: parts.index(row.part))

    def _write(self, data: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = self.path.read_bytes() if self.path.exists() else b""
        with self.path.open("ab") as file:
            file.write((b"\n" if text and not text.endswith(b"\n") else b"") + json.dumps(data).encode() + b"\n")
        self._take(data)

    def _take(self, data: dict[str, Any]) -> None:
        part = data.get("done")
        if part is None:
            row = Row.from_json(data)
            self.rows[row.key] = row
            self._measured.setdefault(row.part, set()).add(row.key)
            return
        measured = self._measured.pop(part, set())
        self.rows = {key: row for key, row in self.rows.items() if row.part != part or key in measured}
        self.done.add(part)
