"""What differs between a page and plain Python, from the clauses that both are tested by."""

from __future__ import annotations

from docs.generate.docstrings import table
from tests.plain_python.contract import CLAUSES


def differences(_: str) -> str:
    """Return a table of what differs."""
    rows = [[clause.what, clause.in_a_page, clause.in_plain_python] for clause in CLAUSES if clause.plain is not None]
    return table(["", "in a page", "in plain Python"], rows)
