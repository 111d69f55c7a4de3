"""The claims of the documentation, and the tests that prove each: the table `tests/proofs.toml`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "proofs.toml"


class TestMissing(Exception):
    """The table names a test that does not exist."""


def read_proofs() -> dict[str, dict[str, list[str]]]:
    """Return the tests of each claim, by section.

    Raises:
        TestMissing: One of them does not exist.
    """
    sections: dict[str, dict[str, list[str]]] = tomllib.loads(TABLE.read_text("utf-8"))
    for name in {test for claims in sections.values() for tests in claims.values() for test in tests}:
        path, _, function = name.partition("::")
        file = ROOT / path
        text = file.read_text("utf-8") if file.is_file() else ""
        if not file.exists() or (function and not re.search(rf"^ *(async )?def {function}\(", text, re.MULTILINE)):
            raise TestMissing(f"tests/proofs.toml names {name}, which does not exist.")
    return sections


def proofs(_: str = "") -> str:
    """Return the table of each section."""
    parts = []
    for section, claims in read_proofs().items():
        rows = (f"| {claim} | {', '.join(f'`{test}`' for test in tests)} |" for claim, tests in claims.items())
        parts.append("\n".join([f"## {section}", "", "| claim | tests |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def claims(section: str) -> str:
    """Return the claims of a section, for the page that makes them: as a list, or by their numbers as a table.

    Raises:
        TestMissing: There is no such section.
    """
    stated = read_proofs().get(section)
    if stated is None:
        raise TestMissing(f"tests/proofs.toml has no section {section!r}.")
    numbered = [re.fullmatch(r"(\d+)\. (.+)", claim) for claim in stated]
    rows = [f"| {each[1]} | {each[2]} |" for each in numbered if each]
    return "\n".join(["| line | claim |", "|---|---|", *rows] if rows else [f"- {claim}" for claim in stated])
