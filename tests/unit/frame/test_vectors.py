"""One rule each for both implementations: the cases of `tests/vectors`, through the Python roles and host.js.

`tests/vectors/README.md` says what a case is. `tests/browser/test_vectors.py` plays the same on host.js in Chromium.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.host_js import host_folder, texts_of, through_host_js
from tests.vectors.cases import Case, cases, cases_in, comparable, files, is_generated
from tests.vectors.python_driver import play

BY_HAND = [case for path in files("sep") if not is_generated(path) for case in cases_in(path)]
GENERATED = [path for path in files("sep") if is_generated(path)]


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case["name"])
def test_the_python_roles(case: Case) -> None:
    assert comparable(play(case)) == comparable(case)


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_the_python_roles_with_generated_cases(path: Path, tmp_path: Path) -> None:
    table = {case["name"]: case for case in cases_in(path)}
    makes = [case["make"] for case in table.values() if "make" in case]
    texts = dict(zip(makes, texts_of(host_folder(tmp_path), makes), strict=True)) if makes else {}
    assert {name: comparable(play(case, text=texts.get(case.get("make", "")))) for name, case in table.items()} == {
        name: comparable(case) for name, case in table.items()
    }


def test_host_js(tmp_path: Path) -> None:
    table = cases("sep")
    results = zip(table, through_host_js(host_folder(tmp_path), table), strict=True)
    played = [(case, result) for case, result in results if result is not None]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    assert {case["role"] for case, _ in played} == {"outer setup", "outer transport"}


def test_a_driver_that_is_wrong_would_be_noticed() -> None:
    case = BY_HAND[0]
    for change in ({"next": "nowhere"}, {"outcome": []}, {"outcome": [*case["outcome"], {"refused": "PrototypeKey"}]}):
        assert comparable(play(case)) != comparable(json.loads(json.dumps(case)) | change)
