"""Finding, installing and launching Chromium."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ChromiumMissing, ToolFailed
from mcpframe.kit.browser import chromium
from mcpframe.kit.browser.chromium import ensure_chromium, find_chromium, launch_options

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser; returns its folder of programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.delenv("MCPFRAME_CHROMIUM", raising=False)
    monkeypatch.delenv("MCPFRAME_NO_SANDBOX", raising=False)
    monkeypatch.setattr(chromium, "_PLACES", {})
    return folder


def test_none() -> None:
    assert find_chromium() is None
    with pytest.raises(ChromiumMissing, match="MCPFRAME_CHROMIUM"):
        ensure_chromium()


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "microsoft-edge"])
def test_the_systems(system: Path, name: str) -> None:
    browser = program(system / name)
    assert find_chromium() == browser


def test_playwright_is_not_taken_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "playwright" / "chromium-1").mkdir(parents=True)
    working = tmp_path / "working"
    working.mkdir()
    (working / "playwright.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(working)
    find_chromium()
    assert not (working / "ran").exists()


def test_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setenv("PLACE", str(tmp_path))
    monkeypatch.setattr(chromium, "_PLACES", {"darwin": ("/nothing/here", "$PLACE/Chromium")})
    browser = program(tmp_path / "Chromium")
    assert find_chromium() == browser


def test_the_chosen_one_comes_first(system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "chromium")
    chosen = program(tmp_path / "mine")
    monkeypatch.setenv("MCPFRAME_CHROMIUM", str(chosen))
    assert find_chromium() == chosen


def test_a_chosen_one_that_is_not_there_is_an_error(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(system / "chromium")
    monkeypatch.setenv("MCPFRAME_CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(ChromiumMissing, match="MCPFRAME_CHROMIUM"):
        find_chromium()


def test_playwrights_comes_before_the_systems(system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "chromium")
    own = program(tmp_path / "playwright" / "chromium-1" / "chrome")
    monkeypatch.setattr(chromium, "run_tool", lambda *_, **__: f"{own}\n")
    assert find_chromium() == own
    own.unlink()
    assert find_chromium() == system / "chromium"


class Installer:
    """Stands in for the programs that install; `makes` is the browser that appears, if any."""

    def __init__(self, makes: Path | None = None, by: str = "") -> None:
        self.makes, self.by = makes, by
        self.ran: list[str] = []

    def __call__(self, command: Sequence[str], name: str, **_: object) -> str:
        self.ran.append(name)
        if self.makes is None or name != self.by:
            raise ToolFailed(f"{name} failed with status 1: no network.")
        program(self.makes)
        return ""


def test_as_root_on_debian_apt_installs_it(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "apt-get")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    installer = Installer(system / "chromium", "apt-get")
    monkeypatch.setattr(chromium, "run_tool", installer)
    assert ensure_chromium(install=True) == system / "chromium"
    assert installer.ran == ["apt-get", "apt-get"]


def test_elsewhere_playwright_installs_it(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "apt-get")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    installer = Installer(system / "chromium", "Playwright")
    monkeypatch.setattr(chromium, "run_tool", installer)
    assert ensure_chromium(install=True) == system / "chromium"
    assert installer.ran == ["Playwright"]


def test_when_nothing_can_be_installed_there_is_one_error(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "apt-get")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(chromium, "run_tool", Installer())
    with pytest.raises(ChromiumMissing, match=r"apt-get failed.*Playwright failed.*install Chromium or Chrome"):
        ensure_chromium(install=True)


@pytest.mark.parametrize(("user", "switch", "sandbox"), [(0, "", False), (1000, "", True), (1000, "1", False)])
def test_the_sandbox_is_off_only_where_it_cannot_work(
    monkeypatch: pytest.MonkeyPatch, user: int, switch: str, sandbox: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("MCPFRAME_NO_SANDBOX", switch)
    options = launch_options(Path("/usr/bin/chromium"))
    assert options["executable_path"] == "/usr/bin/chromium"
    assert options["chromium_sandbox"] is sandbox
