"""When a page is ended for its memory: DevTools by hand, as a real page's memory is measured by tests/bridge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcpframe.kit.base.errors import BrowserGone, PageFailed
from mcpframe.kit.bridge.chromium import page_memory
from mcpframe.kit.bridge.chromium.page_memory import PageMemory

MEGABYTE = 1_000_000


class DevTools:
    """The memory of a page's sessions: of their scripts, and of Python if they have that.

    Attributes:
        heaps: the bytes of scripts by session; a session that is not there has ended.
        pythons: what the page reports by session.
        silent: whether the page computes, so that it does not answer.
    """

    def __init__(self, heaps: dict[str, int], pythons: dict[str, Any], *, silent: bool = False) -> None:
        self.heaps = heaps
        self.pythons = pythons
        self.silent = silent

    def post(self, method: str, session: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.silent:
            return answer
        if session not in self.heaps:
            answer.set_exception(BrowserGone("The page has ended."))
        elif method == "Runtime.getHeapUsage":
            part = self.heaps[session] // 4
            usage = {"usedSize": part, "embedderHeapUsedSize": part, "backingStorageSize": 2 * part}
            answer.set_result({**usage, "totalSize": 10**12})
        else:
            answer.set_result({"result": {"value": self.pythons[session]} if session in self.pythons else {}})
        return answer


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_memory, "_INTERVAL", 0.001)


async def test_the_memory_is_that_of_scripts_and_of_python_in_all_sessions() -> None:
    devtools = DevTools({"page": 400, "worker": 40, "begins": 4}, {"page": 10_000, "worker": 1_000, "begins": "1e9"})
    memory = PageMemory(devtools, lambda: ["page", "worker", "begins", "has ended"])  # type: ignore[arg-type]
    assert await memory._used() == 11_444


async def test_a_page_above_its_limit_is_ended_once() -> None:
    devtools = DevTools({"page": MEGABYTE}, {"page": 40 * MEGABYTE})
    ended: asyncio.Queue[str] = asyncio.Queue()
    memory = PageMemory(devtools, lambda: ["page"])  # type: ignore[arg-type]
    await memory.limit(50, 10, ended.put_nowait)
    devtools.pythons["page"] = 49 * MEGABYTE  # with its scripts as much as it may have
    await asyncio.sleep(0.02)
    assert ended.empty()
    devtools.pythons["page"] += 4
    async with asyncio.timeout(10):
        reason = await ended.get()
        assert memory._task
        await memory._task
    assert "51 MB" in reason
    assert "50 MB" in reason
    assert ended.empty()


async def test_a_page_that_begins_above_its_limit_is_the_error_of_its_start() -> None:
    memory = PageMemory(DevTools({"page": 0}, {"page": 60 * MEGABYTE}), lambda: ["page"])  # type: ignore[arg-type]
    with pytest.raises(PageFailed, match=r"60 MB at its start: .*--page-memory"):
        await memory.limit(50, 10, pytest.fail)
    memory.stop()


async def test_a_page_that_cannot_be_measured_at_its_start_is_an_error() -> None:
    computing, old = DevTools({"page": 0}, {"page": 0}, silent=True), DevTools({"page": 0}, {})
    with pytest.raises(PageFailed, match="computes at its start"):
        await PageMemory(computing, lambda: ["page"]).limit(50, 0.01, pytest.fail)  # type: ignore[arg-type]
    with pytest.raises(PageFailed, match="does not report its memory: build"):
        await PageMemory(old, lambda: ["page"]).limit(50, 10, pytest.fail)  # type: ignore[arg-type]


async def test_a_page_that_ends_as_it_is_measured_says_itself_why() -> None:
    memory = PageMemory(DevTools({"page": 0}, {"page": 0}, silent=True), lambda: ["page"])  # type: ignore[arg-type]
    limiting = asyncio.create_task(memory.limit(50, 3600, pytest.fail))
    await asyncio.sleep(0)
    memory.stop()
    async with asyncio.timeout(10):
        await limiting


async def test_a_page_that_is_closed_is_measured_no_more() -> None:
    devtools = DevTools({"page": 0}, {"page": MEGABYTE})
    memory = PageMemory(devtools, lambda: ["page"])  # type: ignore[arg-type]
    await memory.limit(50, 10, pytest.fail)
    memory.stop()
    devtools.pythons["page"] = 60 * MEGABYTE
    assert memory._task
    with pytest.raises(asyncio.CancelledError):
        await memory._task
