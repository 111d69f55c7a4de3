"""Runs an author's tests as the author does: pytest with the plugin, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.cli.testing import plugin_arguments

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
