"""Dropped modules are imported when they are used, into the objects that others have of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from mcpframe.frame.compat.later_modules import NAMES

START = """
import dis, inspect, json, subprocess, sys, zipfile
from mcpframe.frame.compat import later_modules
sys.meta_path.insert(0, later_modules.FINDER)
earlier = zipfile
"""


def outcome(code: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-c", f"{START}\n{code}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize(
    "use",
    [
        "zipfile.ZipFile",
        "dir(zipfile).index('ZipFile')",
        "(import_module('zipfile'))",
        "(import_module('zipfile').ZipFile)",
    ],
)
def test_it_is_imported_into_the_same_object_once_it_is_used(use: str) -> None:
    before, after, is_same, finds = outcome(
        "from importlib import import_module\n"
        "later_modules.drop(['zipfile'])\n"
        f"before = 'zipfile' in sys.modules\n{use}\n"
        "after = sys.modules['zipfile']\n"
        "finder = sys.meta_path[0]\n"
        "print(json.dumps([before, type(after).__name__, after is earlier, finder.find_spec('zipfile', None) is None]))"
    )
    assert (before, after) == (False, "module")
    assert is_same
    assert finds, "it is not looked for again"


def test_an_attribute_that_it_lacks_raises_as_ever() -> None:
    assert "no attribute 'nonsense'" in outcome(
        "later_modules.drop(['zipfile'])\n"
        "try:\n    zipfile.nonsense\nexcept AttributeError as error:\n    print(json.dumps(str(error)))"
    )


def test_an_import_that_fails_is_tried_again() -> None:
    errors, name = outcome(
        "later_modules.drop(['zipfile'])\n"
        "path, sys.path[:], errors = sys.path[:], [], []\n"
        "sys.path_importer_cache.clear()\n"
        "for _ in range(2):\n"
        "    try:\n        zipfile.ZipFile\n"
        "    except ImportError as error:\n        errors.append(str(error))\n"
        "sys.path[:] = path\n"
        "print(json.dumps([errors, zipfile.ZipFile.__module__]))"
    )
    assert errors == ["No module named 'zipfile'"] * 2
    assert name == "zipfile"


def test_what_is_kept_of_a_module_is_noticed() -> None:
    assert outcome(
        "from subprocess import Popen\nprint(json.dumps(later_modules.drop(['subprocess', 'zipfile'])))"
    ) == ["subprocess"]


def test_what_is_only_called_is_looked_up_when_it_is_called() -> None:
    assert outcome(
        "from types import ModuleType\n"
        "caller = ModuleType('caller')\n"
        "caller.is_zipfile, caller.sys = zipfile.is_zipfile, sys\n"
        "kept = later_modules.drop(['zipfile'], [caller])\n"
        "print(json.dumps([kept, caller.is_zipfile('/'), caller.sys is sys]))"
    ) == [[], False, True]


def test_submodules_come_with_their_package() -> None:
    assert outcome(
        "import html.entities\n"
        "later_modules.drop(['html', 'html.entities'])\n"
        "print(json.dumps([html.unescape('&amp;'), html.entities.html5['amp;']]))"
    ) == ["&", "&"]


def test_a_dropped_module_is_looked_up_as_before() -> None:
    assert outcome(
        "from importlib.util import find_spec\n"
        "later_modules.drop(['zipfile'])\n"
        "print(json.dumps([find_spec('zipfile').name, 'zipfile' in sys.modules, zipfile.ZipFile.__name__]))"
    ) == ["zipfile", False, "ZipFile"]


def test_all_are_modules_of_pythons_library() -> None:
    known = {*sys.stdlib_module_names, "_opcode_metadata", "_sysconfigdata__emscripten_wasm32-emscripten"}
    assert {name.partition(".")[0] for name in NAMES} <= known
