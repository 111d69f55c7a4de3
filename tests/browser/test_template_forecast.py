"""The template forecast: its own tests, of which most are in a real host of MCP Apps, as its author runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.project.scaffold import scaffold
from tests.support.author_tests import run_author_tests


@pytest.mark.extended  # `test_new.py` runs those of a project with a view
def test_its_own_tests_pass_in_the_browser(tmp_path: Path) -> None:
    outcome = run_author_tests(scaffold("skies", template="forecast", parent=tmp_path), "-W", "error")
    assert {name.partition("[")[0] for name in outcome.tests} >= {
        "test_over_stdio",
        "test_every_day_is_in_it",
        "test_the_whole_life_of_a_forecast",
        "test_it_follows_the_host_s_theme",
        "test_a_cancelled_call_and_a_failed_one",
        "test_framed_as_a_server_it_draws_its_own_answers",
    }
    assert set(outcome.tests.values()) == {"passed"}, outcome.output
