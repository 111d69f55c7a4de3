"""The options of a playground's run origin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate.run_origin import RunOrigin, parse_run_origin


def test_a_run_origin() -> None:
    assert parse_run_origin("https://*.run.example", "https://play.example") == RunOrigin(
        "https://*.run.example", "https://play.example"
    )
    assert parse_run_origin("http://*.localhost:81", "http://127.0.0.1").pattern == "http://*.localhost:81"


@pytest.mark.parametrize(
    ("pattern", "site"),
    [
        ("https://*.run.example", None),
        ("https://run.example", "https://play.example"),
        ("https://a.*.example", "https://play.example"),
        ("http://*.run.example", "https://play.example"),
        ("https://*.play.example", "https://play.example"),
        ("https://*.example", "https://play.example"),
        ("https://*.run.example/x", "https://play.example"),
    ],
)
def test_what_is_no_run_origin(pattern: str, site: str | None) -> None:
    with pytest.raises(ValueError, match=r"--run-origin|run\.example"):
        parse_run_origin(pattern, site)


def test_the_command_takes_the_options_of_the_site() -> None:
    command = [
        sys.executable,
        str(Path(__file__).parents[2] / "build.py"),
        "site",
        "--run-origin",
        "https://*.run.example",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, "--run-origin needs --site-origin" in done.stderr) == (1, True)
