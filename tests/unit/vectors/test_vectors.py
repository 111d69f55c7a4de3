"""The vectors on the Python roles: what each does with each message, as `tests/vectors` says.

`tests/in_pyodide` runs this in Pyodide, too; `test_host_js.py` and `tests/browser/test_vectors.py` play the
same cases on host.js.
"""

from __future__ import annotations

import json

import pytest

from tests.vectors.cases import Case, cases_in, comparable, dialects, files, is_generated
from tests.vectors.python_driver import play

FILES = [(dialect, path) for dialect in dialects() for path in files(dialect)]
BY_HAND = [(dialect, case) for dialect, path in FILES if not is_generated(path) for case in cases_in(path)]
GENERATED = {
    f"{dialect} {path.stem}": (dialect, table)
    for dialect, path in FILES
    if is_generated(path) and (table := {case["name"]: case for case in cases_in(path) if "make" not in case})
}
"""Without the cases that are made in JavaScript: those are in `test_host_js.py`."""


@pytest.mark.parametrize(("dialect", "case"), BY_HAND, ids=[f"{dialect} {case['name']}" for dialect, case in BY_HAND])
def test_the_python_roles(dialect: str, case: Case) -> None:
    assert comparable(play(case, dialect)) == comparable(case)


@pytest.mark.parametrize(("dialect", "table"), GENERATED.values(), ids=GENERATED)
def test_the_python_roles_with_generated_cases(dialect: str, table: dict[str, Case]) -> None:
    assert {name: comparable(play(case, dialect)) for name, case in table.items()} == {
        name: comparable(case) for name, case in table.items()
    }


def test_a_driver_that_is_wrong_would_be_noticed() -> None:
    dialect, case = BY_HAND[0]
    for change in ({"next": "nowhere"}, {"outcome": []}, {"outcome": [*case["outcome"], {"refused": "PrototypeKey"}]}):
        assert comparable(play(case, dialect)) != comparable(json.loads(json.dumps(case)) | change)
