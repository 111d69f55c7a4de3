"""Stored values of a session: format, isolation, and a full storage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.core.errors import QuotaError, StorageError
from mcpframe.frame.storage.interfaces import Record
from mcpframe.frame.storage.values import MemoryRecords, Storage
from tests.support.fake_storage import FakeLocks, FakeTexts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
KEYS = st.text(min_size=1)
LARGE = 100_000


class FullRecords(MemoryRecords):
    async def set(self, session_id: str, key: str, record: Record) -> None:
        raise QuotaError("full")


class SlowRecords(MemoryRecords):
    """Lets others in before each change."""

    async def set(self, session_id: str, key: str, record: Record) -> None:
        await anyio.lowlevel.checkpoint()
        await super().set(session_id, key, record)

    async def delete(self, session_id: str, key: str) -> None:
        await anyio.lowlevel.checkpoint()
        await super().delete(session_id, key)


class HangingRecords(MemoryRecords):
    """A database that never answers who changes it, nor who reads."""

    async def get(self, session_id: str, key: str) -> Record | None:
        await anyio.sleep_forever()
        raise AssertionError

    async def keys(self, session_id: str) -> list[str]:
        await anyio.sleep_forever()
        raise AssertionError

    async def set(self, session_id: str, key: str, record: Record) -> None:
        await anyio.sleep_forever()

    async def delete(self, session_id: str, key: str) -> None:
        await anyio.sleep_forever()

    async def clear(self, session_id: str) -> None:
        await anyio.sleep_forever()


@pytest.fixture
def records() -> MemoryRecords:
    return MemoryRecords()


async def test_the_documented_places(records: MemoryRecords) -> None:
    texts, locks = FakeTexts(), FakeLocks()
    storage = Storage("a:b", texts, records, locks)
    assert storage.persistent
    await storage.set("small", {"a": ["ü", None]})
    await storage.set("large", "x" * LARGE)
    await storage.set("data", bytearray(b"\x00\x01"))
    assert await records.get("a:b", "small") == '{"a":["\\u00fc",null]}'
    assert await records.get("a:b", "large") == f'"{"x" * LARGE}"'
    assert await records.get("a:b", "data") == b"\x00\x01"
    assert await storage.get("small") == {"a": ["ü", None]}
    assert await storage.get("large") == "x" * LARGE
    assert await storage.get("data") == b"\x00\x01"
    assert await storage.keys() == ["data", "large", "small"]
    assert texts.names() == []
    assert set(locks.used) == {"mcpframe:1:a:b"}


async def test_what_earlier_versions_kept_in_localstorage_is_read_until_it_is_changed(records: MemoryRecords) -> None:
    others = {"mcpframe:1:a%3Abc:k": "3", "mcpframe:1:a:b:k": "4", "other": "5"}
    texts = FakeTexts(
        **{"mcpframe:1:a%3Ab:k": "1", "mcpframe:1:a%3Ab:x:y": '"two"', "mcpframe:1:a%3Ab:z": "6"}, **others
    )
    storage = Storage("a:b", texts, records)
    assert await storage.keys() == ["k", "x:y", "z"]
    assert [await storage.get(key) for key in ("k", "x:y", "z")] == [1, "two", 6]
    await storage.set("k", "new")
    assert await storage.get("k") == "new"
    assert await storage.update("z", lambda number: number + 1) == 7
    assert set(texts.names()) == {"mcpframe:1:a%3Ab:x:y", *others}
    await storage.delete("x:y")
    assert await storage.keys() == ["k", "z"]
    texts.kept["mcpframe:1:a%3Ab:again"] = "8"
    await storage.clear()
    assert await storage.keys() == []
    assert texts.kept == others


async def test_none_is_a_value(records: MemoryRecords) -> None:
    storage = Storage("id", None, records)
    await storage.set("k", None)
    assert await storage.get("k", "default") is None


SESSIONS = [("a", "a:b"), ("a", "a%3Ab"), ("a:b", "a%3Ab"), ("a", "a "), ("", ":"), ("mcpframe:1", "mcpframe")]


@pytest.mark.parametrize(("one", "other"), SESSIONS)
async def test_sessions_never_see_each_other(records: MemoryRecords, one: str, other: str) -> None:
    first, second = Storage(one, None, records), Storage(other, None, records)
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
    records = MemoryRecords()
    await Storage(one, None, records).set(key, 1)
    await Storage(other, None, records).set(other_key, 2)
    assert await Storage(one, None, records).keys() == sorted({key} | ({other_key} if one == other else set()))


@given(value=JSON)
async def test_json_comes_back_as_it_was(value: Any) -> None:
    storage = Storage("id", None, MemoryRecords())
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


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def shared(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value, {"a": value}]
    return value


@pytest.mark.parametrize("make", [endless, lambda: nested(501), lambda: {"a": (nested(500),)}, lambda: shared(300)])
async def test_a_value_that_is_nested_too_deep_is_refused_and_nothing_lost(make: Callable[[], Any]) -> None:
    storage = Storage("id", None, MemoryRecords())
    await storage.set("k", nested(500))
    with pytest.raises(StorageError, match="'k' is nested deeper than 500 levels"):
        await storage.set("k", make())
    assert await storage.get("k") == nested(500)


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        ("[" * 1_000_000 + "]" * 1_000_000, "nested deeper than 500 levels"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "nested deeper than 500 levels"),
        ("[" * 100_000, "nested deeper"),
        ("{", "Expecting"),
        ("", "Expecting"),
        ("undefined", "Expecting"),
        ("9" * 5000, "integer"),
    ],
    ids=["deep", "deep objects", "open", "cut", "empty", "no JSON", "large number"],
)
@pytest.mark.parametrize("earlier", [False, True], ids=["IndexedDB", "localStorage"])
async def test_what_another_has_left_in_the_storage_is_an_error_and_can_be_deleted(
    stored: str, fault: str, earlier: bool
) -> None:
    texts, records = FakeTexts(), MemoryRecords()
    if earlier:
        texts.kept["mcpframe:1:id:k"] = stored
    else:
        await records.set("id", "k", stored)
    storage = Storage("id", texts, records)
    for use in (lambda: storage.get("k"), lambda: storage.update("k", lambda value: value)):
        with pytest.raises(StorageError, match=f"(?s)stored under 'k' is not what was written.*{fault}"):
            await use()
    await storage.delete("k")
    assert await storage.get("k", "none") == "none"


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), float("inf"), {"a": 1j}])
async def test_what_has_no_json_form_is_refused_and_nothing_lost(value: Any) -> None:
    storage = Storage("id", None, MemoryRecords())
    await storage.set("k", "before")
    with pytest.raises(StorageError, match="The value for 'k' is neither bytes nor JSON"):
        await storage.set("k", value)
    assert await storage.get("k") == "before"


@pytest.mark.parametrize("key", ["", None, 7, b"k"])
async def test_keys_are_texts(key: Any) -> None:
    storage = Storage("id")
    for use in (
        lambda: storage.get(key),
        lambda: storage.set(key, 1),
        lambda: storage.update(key, str),
        lambda: storage.delete(key),
    ):
        with pytest.raises(StorageError, match="A key is a text"):
            await use()


async def test_changes_of_a_key_at_once_are_made_in_their_order() -> None:
    storage = Storage("id", None, SlowRecords())
    for values in (["long" * LARGE, "short"], [b"bytes", "short", 1, "last"]):
        async with anyio.create_task_group() as group:
            for value in values:
                group.start_soon(storage.set, "k", value)
        assert await storage.get("k") == values[-1]
    async with anyio.create_task_group() as group:
        group.start_soon(storage.set, "k", "value")
        group.start_soon(storage.delete, "k")
    assert await storage.keys() == []


async def test_updates_of_all_pages_of_a_session_are_made_one_after_the_other() -> None:
    records, locks = SlowRecords(), FakeLocks()
    pages = [Storage("id", FakeTexts(), records, locks) for _ in range(3)]
    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(pages[number % 3].update, "k", lambda kept, number=number: [*kept, number], [])
    assert sorted(await pages[0].get("k")) == list(range(30))


async def test_a_failing_update_changes_nothing(records: MemoryRecords) -> None:
    storage = Storage("id", None, records)
    await storage.set("k", 1)
    with pytest.raises(ZeroDivisionError):
        await storage.update("k", lambda value: value / 0)
    with pytest.raises(StorageError, match="neither bytes nor JSON"):
        await storage.update("k", lambda _: object())
    assert await storage.get("k") == 1
    assert await storage.update("none", lambda value: value, 7) == 7


CHANGES: dict[str, Callable[[Storage], Awaitable[Any]]] = {
    "set": lambda storage: storage.set("k", "new"),
    "update": lambda storage: storage.update("k", lambda _: "new"),
    "delete": lambda storage: storage.delete("k"),
    "clear": lambda storage: storage.clear(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_change_that_the_browser_never_makes_has_a_deadline(
    change: Callable[[Storage], Awaitable[Any]],
) -> None:
    records, texts = HangingRecords(), FakeTexts(**{"mcpframe:1:id:k": '"old"'})
    storage = Storage("id", texts, records, FakeLocks(), change_timeout=0.01)
    for _ in range(2):  # the next change is not held up by the one before
        with pytest.raises(StorageError, match=r"did not \w+ .* within 0.01 seconds"):
            await change(storage)
    assert await storage.get("k") == "old"


async def test_what_the_browser_never_reads_has_a_deadline() -> None:
    storage = Storage("id", FakeTexts(), HangingRecords(), FakeLocks(), change_timeout=0.01)
    for read in (storage.get("k"), storage.keys()):
        with pytest.raises(StorageError, match=r"did not (read 'k'|list the keys) within 0.01 seconds"):
            await read


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_without_the_lock_nothing_is_changed_but_all_is_read(
    records: MemoryRecords, change: Callable[[Storage], Awaitable[Any]]
) -> None:
    storage = Storage("id", FakeTexts(), records, FakeLocks("mcpframe:1:id"))
    await records.set("id", "k", '"old"')
    with pytest.raises(StorageError, match="stuck"):
        await change(storage)
    assert await storage.get("k") == "old"
    assert await storage.keys() == ["k"]


async def test_where_everything_is_full_the_old_value_stays() -> None:
    storage = Storage("id", FakeTexts(**{"mcpframe:1:id:k": '"old"'}), FullRecords())
    for change in (storage.set("k", b"new"), storage.update("k", lambda _: "new")):
        with pytest.raises(QuotaError):
            await change
    assert await storage.get("k") == "old"
