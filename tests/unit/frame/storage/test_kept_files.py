"""Files that outlive the page: what is restored, what is stored, and what happens where that fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.storage import kept_files as persist
from mcpframe.frame.storage.interfaces import Record
from mcpframe.frame.storage.kept_files import KeptFiles, SavingWriter, keeping
from mcpframe.frame.storage.values import MemoryRecords, Storage


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


class Counted(MemoryRecords):
    """Records that note what is written, and may refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self.refuses = False

    async def set(self, session_id: str, key: str, record: Record) -> None:
        if self.refuses:
            raise StorageError("The browser refuses.")
        self.written.append(key)
        await super().set(session_id, key, record)

    async def keys(self, session_id: str) -> list[str]:
        if self.refuses:
            raise StorageError("The browser refuses.")
        return await super().keys(session_id)


class Place:
    """Where files are kept, and what was reported."""

    def __init__(self) -> None:
        self.records = Counted()
        self.reported: list[str] = []

    def open(self, session_id: str) -> Storage:
        return Storage(session_id, None, self.records)

    async def files(self, *paths: str, session: str = "one", **limits: int) -> KeptFiles:
        def report(title: str, detail: str) -> None:
            self.reported.append(title)

        files = KeptFiles(paths, self.open(session), report, **limits)
        await files.restore()
        return files


def aged(path: Path, content: bytes, seconds: int = 1_000_000_000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (seconds, seconds))


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_what_is_stored_is_restored_with_its_time_and_empty_folders(home: Path) -> None:
    place = Place()
    files = await place.files("~/.server", "~/one.txt", "~/never")
    aged(home / ".server/deep/ä.bin", b"\0\xff")
    aged(home / "one.txt", b"one")
    aged(home / "other.txt", b"other")
    (home / ".server/empty").mkdir()
    await files.save()
    assert sorted(place.records.written) == ["~/.server/deep/ä.bin", "~/.server/empty/", "~/one.txt"]

    (home / ".server/deep/ä.bin").unlink()
    (home / ".server/deep").rmdir()
    (home / ".server/empty").rmdir()
    (home / "one.txt").write_text("older")
    await place.files("~/.server", "~/one.txt")
    assert (home / ".server/deep/ä.bin").read_bytes() == b"\0\xff"
    assert (home / ".server/deep/ä.bin").stat().st_mtime == 1_000_000_000
    assert (home / ".server/empty").is_dir()
    assert (home / "one.txt").read_text() == "one"
    assert place.reported == []


async def test_only_what_has_changed_is_stored(home: Path) -> None:
    place = Place()
    files = await place.files("~/.server")
    aged(home / ".server/a", b"a")
    aged(home / ".server/b", b"b")
    await files.save()
    await files.save()
    assert sorted(place.records.written) == ["~/.server/a", "~/.server/b"]
    aged(home / ".server/a", b"A", seconds=1_000_000_001)
    (home / ".server/b").unlink()
    await files.save()
    assert sorted(place.records.written) == ["~/.server/a", "~/.server/a", "~/.server/b"]
    assert await place.open("one").keys() == ["~/.server/a"]


async def test_a_file_that_has_just_been_written_is_looked_at_again(home: Path) -> None:
    place = Place()
    files = await place.files("~/.server")
    (home / ".server").mkdir()
    (home / ".server/a").write_text("a")
    status = (home / ".server/a").stat()
    await files.save()
    (home / ".server/a").write_text("b")
    os.utime(home / ".server/a", ns=(status.st_mtime_ns, status.st_mtime_ns))
    await files.save()
    (home / ".server/a").unlink()
    await place.files("~/.server")
    assert (home / ".server/a").read_text() == "b"


async def test_sessions_do_not_share(home: Path) -> None:
    place = Place()
    files = await place.files("~/.server")
    aged(home / ".server/a", b"a")
    await files.save()
    (home / ".server/a").unlink()
    await place.files("~/.server", session="two")
    assert not (home / ".server/a").exists()


@pytest.mark.parametrize("damaged", ["text", b"", b"mcpframe file 1 5 9\nshort", b"mcpframe file 1 x 1\na"])
async def test_a_damaged_record_loses_nothing_else(home: Path, damaged: Record) -> None:
    place = Place()
    files = await place.files("~/.server")
    aged(home / ".server/a", b"a")
    aged(home / ".server/b", b"b")
    await files.save()
    await place.records.set("one", "~/.server/a", damaged)
    for name in "ab":
        (home / ".server" / name).unlink()
    files = await place.files("~/.server")
    await files.save()
    assert names(home / ".server") == ["b"]
    assert len(place.reported) == 1
    assert "~/.server/a" in place.reported[0]
    assert await place.records.get("one", "~/.server/a") == damaged


@pytest.mark.parametrize("key", ["~/.server/../out", "/etc/passwd", "~/other", "~", "~/.serverx"])
async def test_a_record_of_another_path_is_passed_over(home: Path, key: str) -> None:
    place = Place()
    await place.records.set("one", key, b"mcpframe file 1 5 1\nx")
    await place.files("~/.server")
    assert names(home) == []
    assert place.reported == []


async def test_too_much_is_an_error_that_keeps_what_was_stored(home: Path) -> None:
    place = Place()
    files = await place.files("~/.server", most_bytes=4, most_files=2)
    aged(home / ".server/a", b"1234")
    await files.save()
    aged(home / ".server/a", b"12345")
    await files.save()
    await files.save()
    [title] = place.reported
    assert "~/.server" in title
    assert "persist" in title
    assert place.records.written == ["~/.server/a"]
    aged(home / ".server/a", b"123")
    await files.save()
    assert place.records.written == ["~/.server/a", "~/.server/a"]
    for name in "bc":
        aged(home / ".server" / name, b"")
    await files.save()
    assert len(place.reported) == 2


async def test_where_the_browser_refuses_nothing_is_overwritten(home: Path) -> None:
    place = Place()
    place.records.refuses = True
    files = await place.files("~/.server")
    place.records.refuses = False
    aged(home / ".server/a", b"a")
    await files.save()
    assert (place.records.written, len(place.reported)) == ([], 1)


async def test_links_are_not_followed(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = Place()
    files = await place.files("~/.server")
    outside = tmp_path_factory.mktemp("outside")
    aged(outside / "secret", b"x")
    (home / ".server").mkdir()
    (home / ".server/file").symlink_to(outside / "secret")
    (home / ".server/folder").symlink_to(outside)
    await files.save()
    assert place.records.written == []


class Stream:
    """A write stream that notes what had been stored when a message was sent."""

    def __init__(self, records: Counted) -> None:
        self.records = records
        self.sent: list[tuple[str, int]] = []

    async def send(self, item: dict[str, Any]) -> None:
        self.sent.append((item.get("method", "answer"), len(self.records.written)))

    async def aclose(self) -> None:
        self.sent.append(("closed", 0))


def never(act: Callable[[], None]) -> Callable[[], None]:
    return lambda: None


async def test_files_are_stored_before_an_answer_is_sent_and_at_the_end(home: Path) -> None:
    place = Place()
    stream = Stream(place.records)

    async with (
        keeping(["~/.server"], "one", place.open, lambda *texts: None, never) as files,
        SavingWriter(stream, files, lambda item: item) as writer,
    ):
        aged(home / ".server/a", b"a")
        await writer.send({"method": "notifications/message"})
        await writer.send({"id": 1, "result": {}})
        aged(home / ".server/b", b"b")
    assert stream.sent == [("notifications/message", 0), ("answer", 1), ("closed", 0)]
    assert set(await place.open(persist.storage_id("one")).keys()) == {"~/.server/a", "~/.server/b"}


async def test_a_page_that_is_hidden_stores_its_files_at_once(home: Path) -> None:
    place = Place()
    hidden: list[Callable[[], None]] = []
    stopped: list[bool] = []

    def on_hidden(act: Callable[[], None]) -> Callable[[], None]:
        hidden.append(act)
        return lambda: stopped.append(True)

    stored = anyio.Event()

    class Noting(Counted):
        async def set(self, session_id: str, key: str, record: Record) -> None:
            await super().set(session_id, key, record)
            stored.set()

    place.records = Noting()
    async with keeping(["~/.server"], "one", place.open, lambda *texts: None, on_hidden):
        aged(home / ".server/a", b"a")
        hidden[0]()
        with anyio.fail_after(persist.INTERVAL / 2):
            await stored.wait()
    assert stopped == [True]


async def test_a_session_without_an_id_keeps_nothing(home: Path) -> None:
    place = Place()
    async with keeping(["~/.server"], "", place.open, lambda *texts: None, never) as files:
        aged(home / ".server/a", b"a")
        await files.save()
    assert place.records.written == []
