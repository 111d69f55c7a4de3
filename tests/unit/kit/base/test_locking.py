"""The lock of a folder: held by one, waited for by others, free when its holder ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mcpframe.kit.base import locking
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.locking import locked, try_hold


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))


def test_a_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "out"):
            assert not (tmp_path / "out").exists()  # nothing is left in the folder


def test_nobody_else_gets_it_meanwhile(tmp_path: Path) -> None:
    with locked(tmp_path / "out"):
        with pytest.raises(WriteError, match="Another build has been writing"), locked(tmp_path / "out", timeout=0):
            pass
        with locked(tmp_path / "other"):
            pass


def test_who_waits_gets_it_then(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path / "out"):
            order.append("second")

    with locked(tmp_path / "out"):
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_a_failure_frees_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "out"):
        raise ZeroDivisionError
    with locked(tmp_path / "out", timeout=0):
        pass


def test_a_process_that_is_killed_frees_it(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from mcpframe.kit.base.locking import try_hold;"
        "held = try_hold(pathlib.Path(sys.argv[1])); print(held is not None, flush=True); sys.stdin.read()"
    )
    path = tmp_path / "lock"
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        assert try_hold(path) is None
        process.kill()
        process.wait()
    held = try_hold(path)
    assert held is not None
    with held:
        assert try_hold(path) is None


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_a_file_that_its_holder_removed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    lock = locking._lock

    def late(descriptor: int) -> bool:
        monkeypatch.setattr(locking, "_lock", lock)
        path.unlink()
        return lock(descriptor)

    monkeypatch.setattr(locking, "_lock", late)
    held = try_hold(path)
    assert held is not None
    with held:
        assert try_hold(path) is None  # nobody else can lock the new file


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="lock"):
        try_hold(tmp_path / "missing" / "lock")
