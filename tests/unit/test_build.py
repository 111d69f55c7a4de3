"""build.py: what it does before there is an environment, and the way to each command."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError, ToolFailed

SCRIPT = checkout_dir() / "build.py"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with its environment and its locks in a folder of the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("build_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    locks = [tmp_path / "bootstrap.txt", tmp_path / "dev.txt", tmp_path / "pyproject.toml"]
    for lock in locks:
        lock.write_text(lock.name)
    venv = tmp_path / ".venv"
    monkeypatch.setattr(module, "VENV", venv)
    monkeypatch.setattr(module, "VENV_PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(module, "LOCKS", locks)
    return module


class Programs:
    """Stands in for the programs: `venv` makes a Python, the program called `fails` fails."""

    def __init__(self, build: ModuleType, fails: str = "") -> None:
        self.build, self.fails = build, fails
        self.ran: list[str] = []

    def __call__(self, command: Sequence[str], name: str, **_: object) -> str:
        self.ran.append(name)
        if name == "python -m venv":
            self.build.VENV_PYTHON.parent.mkdir(parents=True)
            self.build.VENV_PYTHON.touch()
        if name == self.fails:
            raise ToolFailed(f"{name} failed with status 1: no network.")
        if name in ("pip", "uv") and "--editable" not in command:
            assert "--require-hashes" in command
        return ""


def test_the_script_needs_nothing_but_the_standard_library() -> None:
    # -S: without site-packages
    done = subprocess.run(
        [sys.executable, "-S", "-P", str(SCRIPT), "--help"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "build.py demo" in done.stdout


def test_the_environment_is_made_once(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(build)
    monkeypatch.setattr(build, "run_tool", programs)
    build.ensure_environment()
    build.ensure_environment()
    assert programs.ran == ["python -m venv", "pip", "uv", "uv"]


def test_the_environment_of_another_clone_is_left_alone(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = Programs(build)
    monkeypatch.setattr(build, "run_tool", programs)
    theirs = tmp_path / "theirs"
    (theirs / ".venv").mkdir(parents=True)
    try:
        build.VENV.symlink_to(theirs / ".venv", target_is_directory=True)
    except OSError:
        pytest.skip("this system lets nobody make links")
    build_script = theirs / "build.py"
    build_script.touch()
    with pytest.raises(KitError, match=r"is a link to the environment of .*theirs: remove the link"):
        build.ensure_environment()
    assert (programs.ran, list((theirs / ".venv").iterdir())) == ([], [])
    build_script.unlink()  # a link to another disk is nobody else's
    build.ensure_environment()
    assert programs.ran[-1] == "uv"


def test_a_changed_lock_is_installed_into_the_environment(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(build)
    monkeypatch.setattr(build, "run_tool", programs)
    build.ensure_environment()
    build.LOCKS[1].write_text("changed")
    build.ensure_environment()
    assert programs.ran == ["python -m venv", "pip", "uv", "uv", "pip", "uv", "uv"]


@pytest.mark.parametrize("fails", ["python -m venv", "pip", "uv"])
def test_a_failure_leaves_no_environment(build: ModuleType, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    monkeypatch.setattr(build, "run_tool", Programs(build, fails))
    with pytest.raises(KitError, match=r"\.venv could not be made .*no network"):
        build.ensure_environment()
    assert not build.VENV.exists()


def test_a_failed_update_is_tried_again(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "run_tool", Programs(build))
    build.ensure_environment()
    build.LOCKS[1].write_text("changed")
    monkeypatch.setattr(build, "run_tool", Programs(build, "uv"))
    with pytest.raises(KitError):
        build.ensure_environment()
    assert build.VENV_PYTHON.exists()
    programs = Programs(build)
    monkeypatch.setattr(build, "run_tool", programs)
    build.ensure_environment()
    assert programs.ran == ["pip", "uv", "uv"]


@pytest.fixture
def ready(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script where everything is set up already."""
    monkeypatch.setattr(build, "ensure_environment", lambda: None)
    monkeypatch.setattr(build, "VENV", Path(sys.prefix))
    return build


def test_an_error_is_one_line_and_status_1(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise KitError("It is wrong: do this.")

    monkeypatch.setattr(ready, "demo", fail)
    assert ready.main(["demo", "--once"]) == 1
    assert capsys.readouterr().err == "build.py: It is wrong: do this.\n"


def test_arguments_of_the_tests_are_passed_on(ready: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[Sequence[str]] = []

    def run(arguments: Sequence[str]) -> int:
        passed.append(arguments)
        return 5

    monkeypatch.setattr(ready, "test", run)
    assert ready.main(["test", "-k", "some thing", "--help", "tests/unit"]) == 5
    assert passed == [["-k", "some thing", "--help", "tests/unit"]]


@pytest.mark.parametrize(("arguments", "passed"), [(["docs"], []), (["docs", "--check"], ["--check"])])
def test_the_documentation_is_written_or_compared(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, arguments: list[str], passed: list[str]
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(ready.subprocess, "call", lambda command, **_: ran.append(command[3:]) or 3)
    assert ready.main(arguments) == 3
    assert ran == [passed]


def test_an_unknown_argument_is_refused(ready: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        ready.main(["demo", "--onec"])
    assert caught.value.code == 2
    assert "--onec" in capsys.readouterr().err


def test_a_full_disk_is_one_line(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ready, "ensure_environment", fail)
    assert ready.main(["demo"]) == 1
    assert "The disk is full" in capsys.readouterr().err


def test_ctrl_c_is_no_traceback(ready: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ready, "demo", interrupt)
    assert ready.main(["demo"]) == 130


@pytest.mark.parametrize(
    ("fails", "free", "remedy"),
    [
        ("python -m venv", 10**9, "install Python's venv module"),
        ("pip", 10**9, "check the network"),
        ("python -m venv", 0, "free some disk space"),
        ("uv", 0, "free some disk space"),
    ],
)
def test_the_error_says_what_to_do(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, fails: str, free: int, remedy: str
) -> None:
    monkeypatch.setattr(build, "run_tool", Programs(build, fails))
    monkeypatch.setattr(build.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    with pytest.raises(KitError, match=remedy):
        build.ensure_environment()


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        ([], [["tests.support.built"], ["pytest", "-n"]]),
        (["--quick"], [["pytest", "--quick", "-n"]]),
        (["--all"], [["tests.support.built"], ["pytest", "--all", "-n"], ["pytest", "--all", "-n"]]),
        (["-k", "some thing", "tests/unit"], [["pytest", "-k"]]),
        (["--rounds", "2", "tests/browser"], [["pytest", "-n"], ["pytest", "-n"]]),
    ],
    ids=["default", "quick", "all", "chosen", "rounds"],
)
def test_a_suite_builds_its_bundles_first(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, arguments: list[str], runs: list[list[str]]
) -> None:
    ran: list[tuple[list[str], str | None]] = []

    def call(command: list[str], *, env: dict[str, str], **_: object) -> int:
        ran.append((command[2:], env.get("MCPFRAME_TEST_SNAPSHOTS")))
        return 0

    monkeypatch.setattr(ready, "set_up", dict)
    monkeypatch.setattr(ready.subprocess, "call", call)
    assert ready.main(["test", *arguments]) == 0
    assert [command[: len(run)] for (command, _), run in zip(ran, runs, strict=True)] == runs
    assert [snapshot for _, snapshot in ran][2:] == ["0"] * (len(runs) - 2)  # the last of --all


_RACES = """
import pathlib

def test_fails_the_second_time():
    mark = pathlib.Path(__file__).with_name("mark")
    runs = len(mark.read_text()) if mark.exists() else 0
    mark.write_text("x" * (runs + 1))
    assert runs != 1

def test_passes():
    pass
"""


def test_a_race_is_reproduced_and_its_failures_counted(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]")
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "pytest.ini").write_text("[pytest]")
    shutil.copy(Path(__file__).parents[1] / "conftest.py", clone)
    (clone / "test_some.py").write_text(_RACES)
    monkeypatch.setattr(ready, "ROOT", clone)
    monkeypatch.setattr(ready, "set_up", lambda: {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert ready.main(["test", "--repeat", "3", "--load", "test_some.py"]) == 1
    assert "repeated: 6 runs, 1 failures" in capfd.readouterr().out


def test_failed_rounds_are_counted(
    ready: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    statuses = iter([0, 1, 0])
    monkeypatch.setattr(ready, "set_up", dict)
    monkeypatch.setattr(ready.subprocess, "call", lambda *_, **__: next(statuses))
    assert ready.main(["test", "--rounds", "3", "tests/browser"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "round 3 of 3: 1 failed"


def test_python_m_build_runs_the_packaging_tool(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "__main__.py").write_text("import sys\nprint('packs', *sys.argv[1:])\n")
    (tmp_path / "build" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel"],
        cwd=SCRIPT.parent,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "packs --wheel\n"), done.stderr
