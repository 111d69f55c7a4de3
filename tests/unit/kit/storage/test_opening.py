"""Values of sessions in a folder, in SQLite and in PostgreSQL: one contract, also between processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from mcpframe.frame.core.errors import StorageError
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.storage.opening import check_place, open_values
from tests.support.postgresql import postgresql

ODD = ["a", "ä/../b", "%", "%0041", "nul\0", "\ud800", " ", "k" * 5000, "'; DROP TABLE x; --"]
"""Keys that a file system, an index or an SQL text may not take as they are."""
COUNTING = """
import asyncio, sys
from mcpframe.kit.storage.opening import open_values

async def main(place, times):
    async with open_values(place, "counter") as values:
        for _ in range(int(times)):
            await values.storage("ada").update("n", lambda n: n + 1, 0)

asyncio.run(main(*sys.argv[1:]))
"""
STUCK = """
import asyncio, sys
from mcpframe.kit.storage.opening import open_values

def never_ends(n):
    print("changing", flush=True)
    sys.stdin.read()

async def main(place):
    async with open_values(place, "counter") as values:
        await values.storage("ada").update("n", never_ends, 0)

asyncio.run(main(*sys.argv[1:]))
"""


def command(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", script, *arguments]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgresql() as address:
        yield address


@pytest.fixture(params=["folder", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of values."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("database"))
    return str(tmp_path / "values") if request.param == "folder" else f"sqlite:///{tmp_path}/new/values.db"


async def test_values_come_back_and_nobody_else_has_them(place: str, request: pytest.FixtureRequest) -> None:
    name = request.node.name
    async with open_values(place, name) as values:
        mine = values.storage("ada")
        assert mine.persistent
        assert await mine.get("a", "none") == "none"
        for number, key in enumerate(ODD):
            await mine.set(key, {"n": [number, None, "\0ü"]})
        await mine.set("a", b"\0\xff\n")
        assert await mine.keys() == sorted(ODD)
        await mine.delete("%")
    async with open_values(place, name) as values, open_values(place, "another") as others:
        mine = values.storage("ada")
        assert await mine.keys() == sorted({*ODD} - {"%"})
        assert await mine.get("a") == b"\0\xff\n"
        assert await mine.get("\ud800") == {"n": [5, None, "\0ü"]}
        for stranger in (values.storage("bob"), others.storage("ada")):
            assert await stranger.keys() == []
            await stranger.clear()
        with pytest.raises(ZeroDivisionError):
            await mine.update("a", lambda _: 1 / 0)
        with pytest.raises(StorageError):
            await mine.set("a", object())
        assert await mine.get("a") == b"\0\xff\n"
        await mine.clear()
        assert await mine.keys() == []


async def test_changes_of_several_processes_are_made_one_after_the_other(place: str) -> None:
    counting = [await anyio.open_process(command(COUNTING, place, "15"), stdout=None, stderr=None) for _ in range(2)]
    assert [await process.wait() for process in counting] == [0, 0]
    async with open_values(place, "counter") as values:
        storage = values.storage("ada")
        assert await storage.get("n") == 30
        async with await anyio.open_process(command(STUCK, place), stderr=None) as stuck:
            assert stuck.stdout
            assert b"changing".startswith((await stuck.stdout.receive()).strip())
            assert await storage.get("n") == 30
            stuck.kill()
            await stuck.wait()
        assert await storage.update("n", lambda n: n + 1) == 31
        await storage.clear()


async def test_a_damaged_file_is_an_error_and_can_be_deleted(tmp_path: Path) -> None:
    async with open_values(str(tmp_path), "server") as values:
        storage = values.storage("ada")
        await storage.set("a", 1)
        [file] = sorted(tmp_path.glob("server/*/*.value"))  # noqa: ASYNC240
        assert file.stat().st_mode & 0o077 == 0
        file.write_bytes(b"\xff" + json.dumps("x").encode())
        with pytest.raises(StorageError, match="is not a stored value"):
            await storage.get("a")
        await storage.delete("a")
        assert await storage.get("a") is None


@pytest.mark.parametrize("address", ["mysql://u@h/x", "redis://h", "sqlite://", "postgresql://nobody@127.0.0.1:1/x"])
async def test_what_is_no_place_for_values_is_said_before_anything_starts(address: str) -> None:
    with pytest.raises(ConfigError):
        async with open_values(address.replace("nobody@", "nobody:secret@"), "server"):
            pass
    if "127.0.0.1" in address:
        check_place(address)
        with pytest.raises(ConfigError, match=r"cannot be used: .*refused") as raised:
            async with open_values(address.replace("nobody@", "nobody:secret@"), "server"):
                pass
        assert "secret" not in str(raised.value)
