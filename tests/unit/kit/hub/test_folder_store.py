"""The store in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.hub.core.cached_tools import DomainToolStorage
from mcpframe.kit.hub.folder_store import FolderStore
from tests.support.fake_hub import FakeClock, tool

KEYS = ["mcpframe:hub:1:shop.example", "mcpframe:hub:1:[::1]", "../../etc/passwd", "", "\u00e9" * 500, "a\nb"]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_texts_are_kept_for_any_key(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    store = FolderStore(folder)
    assert await store.keys() == []
    assert await store.get(KEYS[0]) is None
    await store.delete(KEYS[0])
    for key in KEYS:
        await store.set(key, f"first of {key}")
        await store.set(key, f"text of {key}")
    again = FolderStore(folder)
    assert sorted(await again.keys()) == sorted(KEYS)
    assert [await again.get(key) for key in KEYS] == [f"text of {key}" for key in KEYS]
    assert {path.parent for path in files(tmp_path)} == {folder}
    assert {path.stat().st_mode & 0o077 for path in files(folder)} == {0}
    await again.delete(KEYS[2])
    assert KEYS[2] not in await store.keys()


@pytest.mark.parametrize("text", ["", "{", "[]", "[1, 2]", '["a"]', "[" * 100_000, "\x00"])
async def test_files_of_others_are_ignored(tmp_path: Path, text: str) -> None:
    store = FolderStore(tmp_path)
    await store.set("mine", "1")
    (tmp_path / "other.json").write_text(text)
    (tmp_path / "copy.json").write_text('["mine", "2"]')
    assert await store.keys() == ["mine"]
    [own] = [path for path in files(tmp_path) if path.name not in ("other.json", "copy.json")]
    own.write_text(text)
    assert await store.get("mine") is None
    assert await store.keys() == []


async def test_cached_tools_survive_in_it(tmp_path: Path) -> None:
    clock = FakeClock()
    first = DomainToolStorage(FolderStore(tmp_path), clock)
    first.put("shop.example", "https://shop.example/cart", {"cart": tool("cart", cache=True)})
    await first.save()
    again = DomainToolStorage(FolderStore(tmp_path), clock)
    await again.load()
    assert list(again.tools("shop.example")) == ["cart"]
    assert again.url("shop.example") == "https://shop.example/cart"
