"""Folders for a while: private, and gone with their process, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.scratch import clear_cache, scratch


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("MCPFRAME_CACHE", str(folder))
    return folder


def left(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "scratch").iterdir())


def test_it_is_there_for_the_block_and_private(cache: Path) -> None:
    with scratch("job") as folder:
        (folder / "file").touch()
        assert folder.name.startswith("job-")
        if os.name == "posix":
            assert folder.stat().st_mode & 0o077 == 0
            assert folder.parent.stat().st_mode & 0o077 == 0
    assert left(cache) == []


def test_an_error_leaves_nothing(cache: Path) -> None:
    with pytest.raises(ValueError, match="no"), scratch("job"):
        raise ValueError("no")
    assert left(cache) == []


def test_the_next_one_removes_what_killed_processes_have_left_and_nothing_else(cache: Path) -> None:
    program = "from mcpframe.kit.base.scratch import scratch\nwith scratch('killed') as folder:\n"
    program += "    (folder / 'deep').mkdir(); print(folder, flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(checkout_dir())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdin
    folder = Path(process.stdout.readline().strip())
    with scratch("mine") as mine:
        assert folder.is_dir()  # its process runs
        process.kill()
        process.wait(30)
        with scratch("another"):
            assert not folder.exists()
            assert mine.is_dir()
    assert left(cache) == []
    process.stdin.close()
    process.stdout.close()


def test_half_written_files_of_the_cache_are_removed_once_nobody_can_be_writing_them(cache: Path) -> None:
    (cache / "servers").mkdir(parents=True)
    old, new, other = (cache / "servers" / name for name in (".a.zip.abcd_123", ".b.zip.abcd_124", ".keep"))
    for path in (old, new, other):
        path.touch()
    hours_ago = time.time() - 7200
    for path in (old, other):
        os.utime(path, (hours_ago, hours_ago))
    clear_cache()
    assert {path for path in (old, new, other) if path.exists()} == {new, other}
