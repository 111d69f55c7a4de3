"""Changes in one process reach the clients of others, once, by the values that they share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged

from mcpframe import FrameServer
from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.storage.values import MemoryRecords, Storage
from mcpframe.kit.plain_python import shared_changes
from mcpframe.kit.plain_python.shared_changes import STORAGE_ID, SharedChanges

LISTS = [ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_changes, "_SECONDS", 0.01)


class Records(MemoryRecords):
    """Values in memory that several processes share, and that may fail.

    Attributes:
        fails: Whether every access fails.
        read: Set at the next read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.read = asyncio.Event()

    async def get(self, session_id: str, key: str) -> Any:
        self.read.set()
        self.read = asyncio.Event()
        if self.fails:
            raise StorageError("The database is away.")
        return await super().get(session_id, key)


@asynccontextmanager
async def process(name: str, records: Records) -> AsyncIterator[tuple[FrameServer[Any], asyncio.Queue[Any]]]:
    """Run a process; yields its server, and what its clients learn."""
    server: FrameServer[Any] = FrameServer("x", allowed_origins=["https://chat.example"])
    heard: asyncio.Queue[Any] = asyncio.Queue()
    storage = Storage(STORAGE_ID, None, records)
    async with asyncio.timeout(20), SharedChanges(server, storage, name).shared():
        await records.read.wait()
        server._subscriptions.subscribe(heard.put_nowait)
        yield server, heard


async def several_reads(records: Records) -> None:
    """Wait until every process has looked again."""
    for _ in range(8):
        await records.read.wait()


async def test_a_change_reaches_every_other_process_once() -> None:
    records = Records()
    async with AsyncExitStack() as stack:
        (one, at_one), (two, at_two), (_, at_three) = [
            await stack.enter_async_context(process(name, records)) for name in ("w1", "w2", "w3")
        ]
        await one.resource_updated("notes://1")
        await two.tools_changed()
        for heard in (at_one, at_two, at_three):
            found = [await heard.get() for _ in range(2)]
            assert sorted(map(repr, found)) == sorted(map(repr, [ResourceUpdated(uri="notes://1"), LISTS[0]]))
        await several_reads(records)
        assert (at_one.qsize(), at_two.qsize(), at_three.qsize()) == (0, 0, 0)
        async with process("w4", records) as (_, at_four):  # what was before it is nothing to its clients
            await several_reads(records)
            await one.resource_updated("notes://1")
            assert await at_four.get() == ResourceUpdated(uri="notes://1")
            assert at_four.empty()


async def test_more_changes_than_are_kept_are_changes_of_all_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_changes, "_MOST", 3)
    records = Records()
    async with process("w1", records) as (one, _), process("w2", records) as (_, heard):
        records.fails = True
        for number in range(8):
            await one.resource_updated(f"notes://{number}")
        records.fails = False
        found = [await heard.get() for _ in range(6)]
        assert found == [*LISTS, *(ResourceUpdated(uri=f"notes://{number}") for number in (5, 6, 7))]


async def test_values_that_are_away_lose_no_change(caplog: pytest.LogCaptureFixture) -> None:
    records = Records()
    async with process("w1", records) as (one, _), process("w2", records) as (_, heard):
        records.fails = True
        await one.resource_updated("notes://1")
        await several_reads(records)
        records.fails = False
        assert await heard.get() == ResourceUpdated(uri="notes://1")
    told = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert 1 <= len(told) <= 2  # one of each process
