"""An author's tests of a view with the plugin: the official `AppBridge` in headless Chromium, and each failure."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.author_tests import Outcome, run_author_tests

# `test_new.py` runs tests of a view that pass, `test_testing_plugin.py` ones that fail.
pytestmark = pytest.mark.extended
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("viewed") / "view"
    shutil.copytree(HERE / "servers" / "view", folder)
    for path in (HERE / "author").glob("apps_*.py"):
        shutil.copy(path, folder / f"test_{path.name}")
    config = folder / "pyproject.toml"
    allowed = 'allowed_origins = ["https://chat.example", "https://other.example"]\n'
    config.write_text(f"{config.read_text()}{allowed}\n[tool.pytest.ini_options]\n")
    return folder


@pytest.fixture(scope="module")
def outcome(project: Path) -> Outcome:
    return run_author_tests(project, "--durations=0", "-W", "error")


def test_each_becomes_what_it_should(outcome: Outcome) -> None:
    assert {name: state for name, state in outcome.tests.items() if state != "passed"} == {
        "test_fails_on_an_error_of_the_view": "failed",
        "test_fails_as_the_test_s_own_answer_does": "failed",
        "test_fails_as_nothing_is_asked": "failed",
        "test_fails_in_a_host_that_is_not_allowed": "failed",
    }, outcome.output
    assert len(outcome.tests) == 11


@pytest.mark.parametrize(
    ("test", "parts"),
    [
        ("on_an_error_of_the_view", ["The framed page complains:", "Error: of the view"]),
        ("as_the_test_s_own_answer_does", ["The framed page complains:", 'link["address"]', "KeyError: 'address'"]),
        ("as_nothing_is_asked", ["ViewFailed: The view did not send open_link within 0.1 seconds."]),
        (
            "in_a_host_that_is_not_allowed",
            ["did not send ui/initialize (its page shows an error)", "the origin https://stranger.example"],
        ),
    ],
)
def test_a_failure_says_why(outcome: Outcome, test: str, parts: list[str]) -> None:
    assert [part for part in parts if part not in outcome.told[f"test_fails_{test}"]] == [], outcome.output


def test_a_failure_keeps_the_picture_and_the_wire(outcome: Outcome, project: Path) -> None:
    kept = project / "mcpframe-results" / "test_apps_with_anyio.py-test_fails_as_the_test_s_own_answer_does"
    assert f"kept: {kept / 'app-screenshot.png'}" in outcome.output
    assert (kept / "app-screenshot.png").read_bytes().startswith(b"\x89PNG")
    wire = [json.loads(line) for line in (kept / "app-wire.jsonl").read_text().splitlines()]
    sent = [entry["message"].get("method") for entry in wire if entry["direction"] == "→"]
    heard = [entry["message"].get("method") for entry in wire if entry["direction"] == "←"]
    assert "tools/call" in sent
    assert "ui/open-link" in heard  # a change of size may follow
