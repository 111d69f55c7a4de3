"""What a session keeps: its format, its isolation, and what happens where there is no room."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.errors import QuotaError, StorageError
from mcpframe.frame.storage import SMALL, MemoryRecords, MemoryTexts, Record, Storage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
KEYS = st.text(min_size=1)


class FullTexts(MemoryTexts):
    def set(self, key: str, text: str) -> None:
        raise QuotaError("full")


class FullRecords(MemoryRecords):
    async def set(self, session_id: str, key: str, record: Record) -> None:
        raise QuotaError("full")


@pytest.fixture
def texts() -> MemoryTexts:
    return MemoryTexts()


@pytest.fixture
def records() -> MemoryRecords:
    return MemoryRecords()


async def test_the_documented_places(texts: MemoryTexts, records: MemoryRecords) -> None:
    storage = Storage("id", texts, records)
    assert storage.persistent
    await storage.set("small", {"a": ["ü", None]})
    await storage.set("large", "x" * SMALL)
    await storage.set("data", bytearray(b"\x00\x01"))
    assert {name: texts.get(name) for name in texts.names()} == {"mcpframe:1:id:small": '{"a":["\\u00fc",null]}'}
    assert await records.get("id", "large") == f'"{"x" * SMALL}"'
    assert await records.get("id", "data") == b"\x00\x01"
    assert await storage.get("small") == {"a": ["ü", None]}
    assert await storage.get("large") == "x" * SMALL
    assert await storage.get("data") == b"\x00\x01"
    assert await storage.keys() == ["data", "large", "small"]


@pytest.mark.parametrize(
    ("size", "small"), [(SMALL - 2, True), (SMALL - 1, False)], ids=["as long as may be", "one too many"]
)
async def test_the_border_between_the_places(
    texts: MemoryTexts, records: MemoryRecords, size: int, small: bool
) -> None:
    storage = Storage("id", texts, records)
    await storage.set("k", "x" * size)
    assert bool(texts.names()) is small
    assert bool(await records.keys("id")) is not small


async def test_a_value_is_in_one_place_at_a_time(texts: MemoryTexts, records: MemoryRecords) -> None:
    storage = Storage("id", texts, records)
    for value in ("small", "x" * SMALL, b"bytes", "small again", b""):
        await storage.set("k", value)
        assert await storage.get("k") == value
        assert len(texts.names()) + len(await records.keys("id")) == 1
        assert await storage.keys() == ["k"]
    await storage.delete("k")
    await storage.delete("k")
    assert await storage.keys() == []
    assert await storage.get("k") is None
    assert await storage.get("k", 7) == 7


async def test_none_is_a_value(texts: MemoryTexts, records: MemoryRecords) -> None:
    storage = Storage("id", texts, records)
    await storage.set("k", None)
    assert await storage.get("k", "default") is None


SESSIONS = [("a", "a:b"), ("a", "a%3Ab"), ("a:b", "a%3Ab"), ("a", "a "), ("", ":"), ("mcpframe:1", "mcpframe")]


@pytest.mark.parametrize(("one", "other"), SESSIONS)
async def test_sessions_never_see_each_other(texts: MemoryTexts, records: MemoryRecords, one: str, other: str) -> None:
    first, second = Storage(one, texts, records), Storage(other, texts, records)
    for key in ("k", "b:k", ":", "%3A"):
        await first.set(key, "first")
        await first.set(f"{key} large", b"first")
    assert await second.keys() == []
    await second.set("k", "second")
    await second.set("k large", b"second")
    await second.delete("b:k")
    await second.clear()
    assert await second.keys() == []
    assert len(await first.keys()) == 8
    assert await first.get("k") == "first"
    assert await first.get("k large") == b"first"


@given(one=st.text(), other=st.text(), key=KEYS, other_key=KEYS)
async def test_no_two_ids_share_a_key(one: str, other: str, key: str, other_key: str) -> None:
    texts, records = MemoryTexts(), MemoryRecords()
    await Storage(one, texts, records).set(key, 1)
    await Storage(other, texts, records).set(other_key, 2)
    assert len(texts.names()) == (1 if (one, key) == (other, other_key) else 2)
    assert await Storage(one, texts, records).keys() == sorted({key} | ({other_key} if one == other else set()))


@given(value=JSON)
async def test_json_comes_back_as_it_was(value: Any) -> None:
    storage = Storage("id", MemoryTexts(), MemoryRecords())
    await storage.set("k", value)
    assert await storage.get("k") == value


async def test_a_value_is_a_copy() -> None:
    storage = Storage("local")
    assert not storage.persistent
    value = {"list": [1]}
    await storage.set("k", value)
    value["list"].append(2)
    (await storage.get("k"))["list"].append(3)
    assert await storage.get("k") == {"list": [1]}


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), float("inf"), endless(), {"a": 1j}])
async def test_what_has_no_json_form_is_refused_and_nothing_lost(value: Any) -> None:
    storage = Storage("id", MemoryTexts(), MemoryRecords())
    await storage.set("k", "before")
    with pytest.raises(StorageError, match="The value for 'k' is neither bytes nor JSON"):
        await storage.set("k", value)
    assert await storage.get("k") == "before"


@pytest.mark.parametrize("key", ["", None, 7, b"k"])
async def test_keys_are_texts(key: Any) -> None:
    storage = Storage("id")
    for use in (lambda: storage.get(key), lambda: storage.set(key, 1), lambda: storage.delete(key)):
        with pytest.raises(StorageError, match="A key is a text"):
            await use()


async def test_where_localstorage_is_full_small_values_go_to_the_database() -> None:
    records = MemoryRecords()
    storage = Storage("id", FullTexts(), records)
    await storage.set("k", "small")
    assert await records.get("id", "k") == '"small"'
    assert await storage.get("k") == "small"


async def test_changes_of_a_key_at_once_are_made_in_their_order() -> None:
    class SlowRecords(MemoryRecords):
        async def set(self, session_id: str, key: str, record: Record) -> None:
            await anyio.lowlevel.checkpoint()
            await super().set(session_id, key, record)

        async def delete(self, session_id: str, key: str) -> None:
            await anyio.lowlevel.checkpoint()
            await super().delete(session_id, key)

    storage = Storage("id", MemoryTexts(), SlowRecords())
    long = "x" * SMALL
    for values in ([long, "short"], ["short", long], [b"bytes", "short", long, "last"]):
        async with anyio.create_task_group() as group:
            for value in values:
                group.start_soon(storage.set, "k", value)
        assert await storage.get("k") == values[-1]
    async with anyio.create_task_group() as group:
        group.start_soon(storage.set, "k", long)
        group.start_soon(storage.delete, "k")
    assert await storage.keys() == []


async def test_where_everything_is_full_the_old_value_stays() -> None:
    texts = MemoryTexts()
    storage = Storage("id", texts, FullRecords())
    await storage.set("k", "old")
    with pytest.raises(QuotaError):
        await storage.set("k", b"new")
    assert await storage.get("k") == "old"
    with pytest.raises(QuotaError):
        await Storage("id", FullTexts(), FullRecords()).set("k", "x")
