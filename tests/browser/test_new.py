"""`mcpframe new`: the project's own tests pass at once, those in headless Chromium too."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.hosts import HOST_PROFILES
from mcpframe.kit.project.scaffold import scaffold
from mcpframe.kit.project.template_files import VIEW
from tests.support.author_tests import run_author_tests

HOSTS = "tests/test_hosts.py"


@pytest.mark.extended  # `build.py release` does the same from the wheel
def test_its_own_tests_pass_at_once(tmp_path: Path) -> None:
    outcome = run_author_tests(scaffold("word-counter", parent=tmp_path), "-W", "error")
    assert outcome.tests == {"test_add": "passed", "test_add_in_the_browser": "passed"}, outcome.output


@pytest.mark.extended
def test_those_of_a_server_with_a_view_too(tmp_path: Path) -> None:
    folder = scaffold("lucky-dice", template=VIEW, parent=tmp_path)
    outcome = run_author_tests(folder, "-W", "error", f"--ignore={HOSTS}")
    assert outcome.tests == {
        "test_roll": "passed",
        "test_the_tool_has_the_view": "passed",
        "test_a_roll_is_shown_and_rolled_again": "passed",
        "test_a_cancelled_call": "passed",
    }, outcome.output


@pytest.mark.extended  # 20 views; `test_check_views` shows another one in every host
def test_a_new_view_draws_in_every_host_that_allows_it(tmp_path: Path) -> None:
    folder = scaffold("lucky-dice", template=VIEW, parent=tmp_path)
    outcome = run_author_tests(folder, "-W", "error", HOSTS)
    assert outcome.tests == {f"test_the_view_in_each_host[{name}]": "passed" for name in HOST_PROFILES}, outcome.output
