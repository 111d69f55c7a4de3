"""Runs the tests of authors: of one project as its author does, or of many in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.cli.building.testing import plugin_arguments

ROOT = Path(__file__).parents[2]
PATIENCE = 300


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        tests: By name what became of it: `passed`, `failed`, `error` or `skipped`.
        told: By name what was told of a failure, and its sections.
        output: What pytest printed.
        code: Its exit status.
    """

    tests: dict[str, str]
    told: dict[str, str]
    output: str
    code: int


def run_author_tests(folder: Path, *arguments: str) -> Outcome:
    """Run pytest in a folder.

    Args:
        folder: The project.
        arguments: For pytest.
    """
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", *plugin_arguments(), "-p", "no:cacheprovider", f"--junitxml={report}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    output = done.stdout + done.stderr
    tests: dict[str, str] = {}
    told: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase") if report.is_file() else ():
        name = case.attrib["name"]
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        state = {"failure": "failed", "error": "error", "skipped": "skipped"}[kinds[0]] if kinds else "passed"
        tests[name] = "failed" if state == "error" and tests.get(name) == "failed" else state
        parts = [f"{child.attrib.get('message', '')}\n{child.text or ''}" for child in case]
        told[name] = told.get(name, "") + "\n".join(parts)
    return Outcome(tests, told, output, done.returncode)


_IN_TURN = """
import contextlib, io, json, os, sys
import pytest

results = {}
for folder in json.loads(sys.argv[1]):
    before, path, output = set(sys.modules), sys.path[:], io.StringIO()
    os.chdir(folder)
    with contextlib.redirect_stdout(output):
        code = pytest.main(["-s", *sys.argv[2:]])  # standard error stays: what modules keep of it is used later
    results[folder] = int(code), output.getvalue()
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
            del sys.modules[name]
print(json.dumps(results))
"""


def run_projects(folders: Sequence[Path], *arguments: str) -> dict[Path, tuple[int, str]]:
    """Run the tests of many projects in one process, and return the exit status and the output of each.

    Projects have modules of the same names, `server` above all: those of one are forgotten before the next.
    """
    command = [sys.executable, "-c", _IN_TURN, json.dumps([*map(str, folders)]), "-q", "-W", "error"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return {Path(folder): (code, output) for folder, (code, output) in json.loads(done.stdout.splitlines()[-1]).items()}
