"""Read the vectors of `tests/vectors/<dialect>/*.json`. Standard library only, so that every driver can."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mcpframe.frame.core.payload import loads

VECTORS = Path(__file__).resolve().parent
ROLES_FILE = "roles.json"

Case = dict[str, Any]
Outcome = list[dict[str, Any]]
Result = dict[str, Any]
"""`outcome` and `next`, as in a case: what a driver reports."""

_REPEATED = re.compile(r"<<(.+?)\*(\d+)>>")
_COMMON = ("role", "state", "options")


def dialects() -> list[str]:
    """Return the names of the dialects that have vectors."""
    return sorted(path.parent.name for path in VECTORS.glob(f"*/{ROLES_FILE}"))


def files(dialect: str) -> list[Path]:
    """Return the files of a dialect's cases."""
    return sorted(path for path in (VECTORS / dialect).glob("*.json") if path.name != ROLES_FILE)


def roles(dialect: str) -> dict[str, Any]:
    """Return the session id, the roles and the way into each of their states."""
    read: dict[str, Any] = json.loads((VECTORS / dialect / ROLES_FILE).read_text("utf-8"))
    return read


def cases(dialect: str) -> list[Case]:
    """Return all cases of a dialect."""
    return [case for path in files(dialect) for case in cases_in(path)]


def cases_in(path: Path) -> list[Case]:
    """Return the cases of a file, complete: with what the file says for all of them, and long texts in full."""
    table = json.loads(expanded(path.read_text("utf-8")))
    common = {key: table[key] for key in _COMMON if key in table}
    return [{**common, **case, "name": f"{path.stem}: {case['name']}"} for case in table["cases"]]


def is_generated(path: Path) -> bool:
    """Return whether a file is one that the generator writes."""
    return bool(json.loads(path.read_text("utf-8")).get("generated"))


def expanded(text: str) -> str:
    """Return the text of a file with `xxx` in place of `<<x*3>>`."""
    return _REPEATED.sub(lambda match: match[1] * int(match[2]), text)


def comparable(result: Result) -> tuple[list[str], str]:
    """Return a result in a form that is equal for equal results: an outcome has no order, and 1e+21 is an integer."""
    outcome = [loads(json.dumps(each)) for each in result["outcome"]]
    return sorted(json.dumps(each, sort_keys=True) for each in outcome), result["next"]
