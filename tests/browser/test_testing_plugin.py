"""An author's tests with the plugin in headless Chromium: with both plugins for async tests, and each failure."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.author_tests import Outcome, run_author_tests

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authored") / "authored"
    shutil.copytree(HERE / "servers" / "authored", folder)
    for path in (HERE / "author").glob("with_*.py"):
        shutil.copy(path, folder / f"test_{path.name}")
    config = folder / "pyproject.toml"
    text = re.sub(
        r"allowed_origins = .*",
        'allowed_origins = ["https://chat.example", "https://other.example"]',
        config.read_text(),
    )
    config.write_text(text + "\n[tool.pytest.ini_options]\n")
    return folder


@pytest.fixture(scope="module")
def outcome(project: Path) -> Outcome:
    return run_author_tests(project, "--durations=0")


def test_each_becomes_what_it_should(outcome: Outcome) -> None:
    assert outcome.tests == {
        "test_from_a_fixture": "passed",
        "test_set_up_and_clicked": "passed",
        "test_fails_on_an_error_of_the_page": "failed",
        "test_expected_error": "passed",
        "test_fails_and_is_kept": "failed",
        "test_setup_fails_as_the_user_cancels": "error",
    }, outcome.output


def test_an_error_of_the_page_has_its_python_traceback(outcome: Outcome) -> None:
    told = outcome.told["test_fails_on_an_error_of_the_page"]
    assert "The framed page complains:" in told
    assert "raise ValueError(f" in told
    assert "ValueError: click on fails" in told


def test_a_failure_keeps_the_picture_and_the_wire(outcome: Outcome, project: Path) -> None:
    kept = project / "mcpframe-results" / "test_with_asyncio.py-test_fails_and_is_kept"
    assert f"kept: {kept / 'screenshot.png'}" in outcome.output
    assert (kept / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    wire = [json.loads(line) for line in (kept / "wire.jsonl").read_text().splitlines()]
    payloads = [entry["message"].get("payload") for entry in wire if entry["message"]]
    assert any(isinstance(payload, dict) and payload.get("method") == "tools/call" for payload in payloads)
    assert {entry["direction"] for entry in wire} == {"→", "←"}
    assert len(list((project / "mcpframe-results").iterdir())) == 3


def test_a_cancelled_setup_says_so(outcome: Outcome) -> None:
    assert "The server's setup failed (USER_CANCELLED)" in outcome.told["test_setup_fails_as_the_user_cancels"]
    assert "test_setup_fails_as_the_user_cancels/wire.jsonl" in outcome.output
