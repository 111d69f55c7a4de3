"""The vectors on host.js in Node, which takes seconds; and on the Python roles what only JavaScript can make.

`tests/browser/test_vectors.py` plays them on host.js in Chromium.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.host_js import host_folder, texts_of, through_host_js
from tests.vectors.cases import cases, comparable
from tests.vectors.python_driver import play


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_folder(tmp_path_factory.mktemp("host"))


def test_host_js(folder: Path) -> None:
    table = cases("sep")
    results = list(zip(table, through_host_js(folder, table), strict=True))
    played = [(case, result) for case, result in results if result is not None]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    left = [case for case, result in results if result is None and case["role"].startswith("outer")]
    assert {case["do"] for case in left} == {"repeat is due", "complete setup", "require setup"}  # an inner frame does


def test_the_python_roles_with_structured_clones(folder: Path) -> None:
    """Python gets of them what host-json.js, which is in every page of a bundle, hands over."""
    table = [case for case in cases("sep") if "make" in case]
    texts = texts_of(folder, [case["make"] for case in table])
    outcomes = {case["name"]: comparable(play(case, text=text)) for case, text in zip(table, texts, strict=True)}
    assert outcomes == {case["name"]: comparable(case) for case in table}
    assert len(table) > 50
