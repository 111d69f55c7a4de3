"""The vectors on the Python roles: what each does with each message, as `tests/vectors` says.

`tests/in_pyodide` runs this in Pyodide, too; `test_vectors_host_js.py` and `tests/browser/test_vectors.py` play the
same cases on host.js.
"""

from __future__ import annotations

import json

import pytest

from tests.vectors.cases import Case, cases_in, comparable, files, is_generated
from tests.vectors.python_driver import play

BY_HAND = [case for path in files("sep") if not is_generated(path) for case in cases_in(path)]
GENERATED = {
    path.stem: table
    for path in files("sep")
    if is_generated(path) and (table := {case["name"]: case for case in cases_in(path) if "make" not in case})
}
"""Without the cases that are made in JavaScript: those are in `test_vectors_host_js.py`."""


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case["name"])
def test_the_python_roles(case: Case) -> None:
    assert comparable(play(case)) == comparable(case)


@pytest.mark.parametrize("table", GENERATED.values(), ids=GENERATED)
def test_the_python_roles_with_generated_cases(table: dict[str, Case]) -> None:
    assert {name: comparable(play(case)) for name, case in table.items()} == {
        name: comparable(case) for name, case in table.items()
    }


def test_a_driver_that_is_wrong_would_be_noticed() -> None:
    case = BY_HAND[0]
    for change in ({"next": "nowhere"}, {"outcome": []}, {"outcome": [*case["outcome"], {"refused": "PrototypeKey"}]}):
        assert comparable(play(case)) != comparable(json.loads(json.dumps(case)) | change)
