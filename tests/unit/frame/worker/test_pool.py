"""Functions that a page hands to processes; processes of CPython stand for its workers."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.to_process
import pytest
from anyio import BrokenWorkerProcess

from mcpframe import in_process
from mcpframe.frame.worker import pool
from mcpframe.frame.worker.job import RemoteTraceback
from mcpframe.frame.worker.pool import Pool, ProcessPoolExecutor
from tests.unit.frame.worker import functions
from tests.unit.frame.worker.process import FUNCTIONS, ProcessWorker

pytestmark = pytest.mark.anyio

PATIENCE = 60.0


class Started:
    """Starts processes, and ends them."""

    def __init__(self) -> None:
        self.workers: list[ProcessWorker] = []

    def __call__(self, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]) -> ProcessWorker:
        self.workers.append(ProcessWorker(FUNCTIONS, heard, ended))
        return self.workers[-1]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """A pool of two, which is the page's."""
    made = Started()
    monkeypatch.setattr(pool, "_pool", Pool(made, 2))
    yield made
    for worker in made.workers:
        worker.end()


async def test_a_function_runs_in_a_process_that_is_used_again(
    started: Started, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with anyio.fail_after(PATIENCE):
        assert await pool.run_sync(functions.double, 4) == 8
        numbers = {await pool.run_sync(functions.number_of_process) for _ in range(3)}
    assert len(numbers) == 1
    assert len(started.workers) == 2  # the other one is ready ahead of need
    assert numbers != {os.getpid()}
    assert capsys.readouterr().out == "doubling 4\n"
    assert [record.getMessage() for record in caplog.records if record.name == "tests.functions"] == ["doubled 4"]


async def test_as_many_run_at_once_as_there_are_processors(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(pool.run_sync, functions.nap, 0.05)
    assert len(started.workers) == 2


async def test_an_exception_has_the_traceback_of_its_process(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        with pytest.raises(LookupError, match="no such thing") as raised:
            await pool.run_sync(functions.fail, "no such thing")
        assert isinstance(raised.value.__cause__, RemoteTraceback)
        assert "functions.py" in str(raised.value.__cause__)
        with pytest.raises(TypeError, match="function cannot be sent to the page"):
            await pool.run_sync(functions.unsendable)
        assert await pool.run_sync(functions.double, 1) == 2
    assert len(started.workers) == 2


async def test_a_process_that_ends_is_an_error_for_its_task_only(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        napping = asyncio.ensure_future(pool.run_sync(functions.nap, 0.5))
        with pytest.raises(BrokenWorkerProcess, match="has ended"):
            await pool.run_sync(functions.leave)
        assert await napping == 0.5
        assert await pool.run_sync(functions.double, 1) == 2


async def test_a_cancelled_task_ends_its_process_if_it_may(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        with anyio.move_on_after(0.2) as scope:
            await pool.run_sync(functions.nap, 3600, cancellable=True)
        assert scope.cancelled_caught
        with anyio.move_on_after(0.05) as scope:
            assert await pool.run_sync(functions.nap, 0.5) == 0.5
            await anyio.lowlevel.checkpoint()
        assert scope.cancelled_caught
    assert len(started.workers) == 2


async def test_idle_processes_end(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_SECONDS", 0.3)
    with anyio.fail_after(PATIENCE):
        await pool.run_sync(functions.double, 1)
        for worker in started.workers:
            await worker.is_over.wait()
        assert await pool.run_sync(functions.double, 2) == 4
    assert len(started.workers) == 4


async def test_a_process_that_ends_while_it_is_idle_is_not_used(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        pid = await pool.run_sync(functions.number_of_process)
        [ended] = [worker for worker in started.workers if worker._process.pid == pid]
        ended._process.kill()
        await anyio.to_thread.run_sync(ended._thread.join)
        assert await pool.run_sync(functions.double, 1) == 2


async def test_what_a_function_posts_itself_is_skipped(started: Started) -> None:
    with anyio.fail_after(PATIENCE):
        assert await pool.run_sync(functions.chatter) == "done"


async def test_a_page_without_workers_calls_the_function(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(heard: Any, ended: Callable[[str, str, bool], None]) -> Any:
        ended("a policy", "", False)
        return ProcessWorker.__new__(ProcessWorker)

    monkeypatch.setattr(pool, "_pool", Pool(start, 2))
    assert [await pool.run_sync(functions.number_of_process) for _ in range(2)] == [os.getpid()] * 2
    (record,) = caplog.records
    assert "run in the page, and block it: a policy" in record.getMessage()


async def test_before_the_page_serves_there_are_none() -> None:
    with pytest.raises(RuntimeError, match="call this in a tool"):
        await pool.run_sync(functions.double, 1)


async def test_a_pool_of_the_standard_library(started: Started) -> None:
    loop = asyncio.get_running_loop()
    with anyio.fail_after(PATIENCE):
        executor = ProcessPoolExecutor(1, initializer=functions.mark, initargs=("first",))
        async with anyio.create_task_group():
            futures = [loop.run_in_executor(executor, functions.mark, text) for text in ("one", "two")]
            results = await asyncio.gather(*futures)
        with pytest.raises(LookupError, match="nothing"):
            await loop.run_in_executor(executor, functions.fail, "nothing")
        waiting = executor.submit(functions.nap, 3600)
        executor.shutdown(cancel_futures=True)
        await asyncio.wait([asyncio.wrap_future(waiting)])
        assert waiting.cancelled()
        with pytest.raises(RuntimeError, match="after shutdown"):
            executor.submit(functions.double, 1)
    assert results == [["first", "one"], ["first", "one", "two"]]


async def test_a_decorated_function_runs_in_a_process_of_cpython_too() -> None:
    with anyio.fail_after(PATIENCE):
        assert await functions.add(1, other=3) == 4
    assert str(inspect.signature(functions.add)) == "(one: 'int', *, other: 'int' = 1) -> 'int'"
    assert functions.add.__doc__ == "Add two numbers."


async def test_a_decorated_function_runs_in_a_worker(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anyio.to_process, "run_sync", pool.run_sync)
    with anyio.fail_after(PATIENCE):
        assert await functions.add(5) == 6
    assert started.workers


def test_a_function_that_a_process_cannot_find_is_refused() -> None:
    def inner() -> None: ...

    with pytest.raises(TypeError, match="top of its module"):
        in_process(inner)
