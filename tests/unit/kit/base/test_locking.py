"""The lock of a folder: held by one, waited for by others, free when its holder ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.locking import locked


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
