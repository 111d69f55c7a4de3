"""Running programs, and saying in one sentence why one failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcpframe.kit.errors import ToolFailed
from mcpframe.kit.programs import run_tool

PYTHON = [sys.executable, "-c"]


def test_its_output_is_returned(tmp_path: Path) -> None:
    assert run_tool([*PYTHON, "import os; print(os.getcwd())"], "it", cwd=tmp_path).strip() == str(tmp_path)


def test_its_environment_can_be_given() -> None:
    assert run_tool([*PYTHON, "import os; print(os.environ['A'])"], "it", environment={"A": "1"}).strip() == "1"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            "npm error code ENOTFOUND\nnpm error network request failed\nnpm error A complete log",
            "network request failed",
        ),
        ("npm error code E404", "code E404"),
        ("ERROR: No matching distribution", "No matching distribution"),
        ("E: Unable to locate package", "Unable to locate"),
        ("error: Failed to fetch", "Failed to fetch"),
        ("Traceback\n  something", "Traceback"),
        ("", "it printed nothing"),
    ],
)
def test_the_error_has_the_line_that_says_why(printed: str, reason: str) -> None:
    program = f"import sys; sys.stderr.write({printed!r}); sys.exit(3)"
    with pytest.raises(ToolFailed, match=f"^it failed with status 3: .*{reason}") as caught:
        run_tool([*PYTHON, program], "it")
    assert caught.value.output == printed


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ToolFailed, match="it could not be started"):
        run_tool(["/nowhere/at/all"], "it")


def test_a_program_that_does_not_end() -> None:
    with pytest.raises(ToolFailed, match="more than"):
        run_tool([*PYTHON, "input() if False else __import__('threading').Event().wait()"], "it", timeout=0.3)
