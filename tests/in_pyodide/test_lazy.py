"""`mcpframe.load` with micropip, from the folder the page is served from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from mcpframe.kit.bundle.pyodide.archive import pack

WHEEL = "packages/lazydemo-1.0-py3-none-any.whl"
LOAD_IT = """
import importlib, json, sys
import mcpframe
from mcpframe.frame.core import errors
from mcpframe.frame.page import load
load.configure({"lazydemo": [%s]})
try:
    await mcpframe.load("lazydemo")
    answer = importlib.import_module("lazydemo").ANSWER
except errors.LoadError as error:
    answer = str(error)
json.dumps([answer, sorted({"lazydemo", "micropip"} & set(sys.modules))])
"""


@pytest.fixture(scope="module")
def wheel(dist_folder: Path) -> str:
    """Puts a wheel into the folder and gives its SHA-256."""
    info = "lazydemo-1.0.dist-info"
    data = pack(
        {
            "lazydemo.py": b"ANSWER = 42",
            f"{info}/METADATA": b"Metadata-Version: 2.1\nName: lazydemo\nVersion: 1.0\nRequires-Dist: no-such-thing\n",
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": b"",
        }
    )
    path = dist_folder / WHEEL
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def load(selenium, url: str, sha256: str):
    return selenium.python(LOAD_IT % json.dumps({"url": url, "sha256": sha256}))


def test_a_file_that_is_missing_or_not_the_locked_one_is_not_installed(selenium, wheel):
    answer, imported = load(selenium, WHEEL, "0" * 64)
    assert answer.startswith(f"{WHEEL} is not the file this bundle was built with: its SHA-256 is {wheel}")
    assert imported == []
    answer, imported = load(selenium, "packages/nothing-1.0-py3-none-any.whl", wheel)
    assert answer.startswith("packages/nothing-1.0-py3-none-any.whl of this bundle")
    assert imported == []


def test_a_lazy_requirement_can_be_imported_after_loading_it(selenium, wheel):
    assert load(selenium, WHEEL, wheel) == [42, ["lazydemo", "micropip"]]
