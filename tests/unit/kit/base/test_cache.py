"""Writing into the cache: all or nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mcpframe.kit.base.cache import cache_dir, clear_leftovers, new_folder, sha256_of, write_file, writing
from mcpframe.kit.base.errors import WriteError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path


def test_the_cache_folder_is_the_users_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPFRAME_CACHE", raising=False)
    assert cache_dir().is_absolute()
    assert cache_dir().name.lower() == "mcpframe" or "mcpframe" in cache_dir().parts


def test_a_new_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "target"
    with new_folder(target) as folder:
        (folder / "a").write_text("A")
        assert not target.exists()
    assert (target / "a").read_text() == "A"
    assert names(target.parent) == ["target"]


def test_a_new_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "old").touch()
    with new_folder(target) as folder:
        (folder / "new").touch()
    assert names(target) == ["new"]
    assert names(tmp_path) == ["target"]


def test_a_failure_leaves_no_folder_behind(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), new_folder(tmp_path / "target") as folder:
        (folder / "half").write_bytes((folder / "nothing").read_bytes())
    assert names(tmp_path) == []


def test_a_failure_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(ValueError, match="no"), new_folder(target):
        raise ValueError("no")
    assert names(target) == ["old"]


def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "old").touch()
    rename = Path.rename

    def refuse(self: Path, to: Path) -> Path:
        if self.name == "new":
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(WriteError), new_folder(target):
        pass
    assert names(target) == ["old"]
    assert names(tmp_path) == ["target"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "target"
    for path in (".target.abcd_123/new/half", ".target.abcd_124/old/file", ".target.mine/file", ".target.abcd_125/x"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    (tmp_path / ".htaccess").touch()
    (tmp_path / ".target.abcd_126").touch()
    clear_leftovers(target)
    assert names(target) == ["file"]  # it had stepped aside
    assert names(tmp_path) == [".htaccess", ".target.abcd_125", ".target.mine", "target"]
    (tmp_path / ".target.abcd_127" / "old").mkdir(parents=True)
    clear_leftovers(target)
    assert names(target) == ["file"]
    assert names(tmp_path) == [".htaccess", ".target.abcd_125", ".target.mine", "target"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "permission"), (errno.EDQUOT, "quota")],
)
def test_what_the_file_system_refuses_is_one_sentence(tmp_path: Path, number: int, said: str) -> None:
    with pytest.raises(WriteError, match=said) as caught, writing(tmp_path):
        raise OSError(number, os.strerror(number))
    assert str(tmp_path) in str(caught.value)


def test_other_errors_of_the_file_system_pass(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(tmp_path):
        (tmp_path / "nothing").read_bytes()


def test_a_file_is_written_in_one_go(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"
    write_file(target, b"one")
    write_file(target, b"two")
    assert target.read_bytes() == b"two"
    assert names(target.parent) == ["file"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_file(target, b"before")

    def full(self: Path, to: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(WriteError, match="disk is full"):
        write_file(target, b"after")
    assert target.read_bytes() == b"before"
    assert names(tmp_path) == ["file"]


def test_sha256(tmp_path: Path) -> None:
    file = tmp_path / "abc"
    file.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert sha256_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
