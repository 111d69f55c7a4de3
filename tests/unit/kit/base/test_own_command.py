"""The command that clients run later: this Python, or uvx if this one is in uv's cache."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.own_command import is_own, own_command

OWN = version("mcpframe")


@pytest.fixture
def uvx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of uvx, as `uvx mcpframe` has been run with it."""
    program = tmp_path / "programs" / ("uvx.exe" if sys.platform == "win32" else "uvx")
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "CACHEDIR.TAG").write_text("Signature")
    monkeypatch.setenv("UV", str(program.with_name("uv")))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "prefix", str(cache / "archive-v0" / "abc"))
    return str(program)


def test_an_installation_that_stays_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV", "/usr/bin/uv")  # `uv run` sets it, too
    assert own_command("bridge", "x", extra="author") == [sys.executable, "-P", "-m", "mcpframe", "bridge", "x"]


def test_what_uvx_has_run_is_run_by_it_again_in_the_same_version(uvx: str) -> None:
    assert own_command("bridge", "x") == [uvx, f"mcpframe@{OWN}", "bridge", "x"]
    author = [uvx, "--from", f"mcpframe[author]=={OWN}", "mcpframe", "bridge", "x"]
    assert own_command("bridge", "x", extra="author") == author


def test_without_uvx_this_python_is_used(uvx: str) -> None:
    Path(uvx).unlink()
    assert own_command("hub")[0] == sys.executable


def test_its_commands_are_known_again(uvx: str) -> None:
    for extra in (None, "author"):
        assert is_own(own_command("bridge", "x", extra=extra)[1:])  # type: ignore[arg-type]
    Path(uvx).unlink()
    assert is_own(own_command("hub")[1:])
    assert is_own(["-m", "mcpframe", "bridge", "x"])


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        "mcpframe bridge",
        [],
        ["-P"],
        ["--from"],
        [1, "mcpframe", "bridge"],
        ["-m", "mcpframe", "serve"],
        ["mcpframes@1", "bridge"],
        ["--from", "other", "mcpframe", "bridge"],
    ],
)
def test_other_commands_are_not(arguments: Any) -> None:
    assert not is_own(arguments)
