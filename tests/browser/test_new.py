"""`mcpframe new`: the project's own tests pass at once, one of them in headless Chromium."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.project.scaffold import scaffold
from tests.support.author_tests import run_author_tests


def test_its_own_tests_pass_at_once(tmp_path: Path) -> None:
    outcome = run_author_tests(scaffold("word-counter", parent=tmp_path), "-W", "error")
    assert outcome.tests == {"test_add": "passed", "test_add_in_the_browser": "passed"}, outcome.output
