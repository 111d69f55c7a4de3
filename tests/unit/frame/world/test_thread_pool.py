"""`multiprocessing.pool` of a page, beside Python's own: what one does, the other does."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.compat.process import NO_PROCESSES
from mcpframe.frame.world import thread_pool

pytestmark = pytest.mark.skipif(in_pyodide(), reason="there is one: tests/in_pyodide/test_world.py")
MakePool = Callable[..., Any]


@pytest.fixture(params=[multiprocessing.pool.ThreadPool, thread_pool.ThreadPool], ids=["Python's", "a page's"])
def make_pool(request: pytest.FixtureRequest) -> MakePool:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def pool(make_pool: MakePool) -> Iterator[Any]:
    with make_pool(2) as pool:
        yield pool


def test_the_results_are_those_of_the_calls(pool: Any) -> None:
    assert pool.apply(int, ("11",), {"base": 2}) == 3
    assert pool.map(len, ["a", "bc"], chunksize=2) == [1, 2]
    assert pool.starmap(divmod, [(7, 2), (9, 4)]) == [(3, 1), (2, 1)]
    assert list(pool.imap(len, iter(["a", "bc", ""]))) == [1, 2, 0]
    assert sorted(pool.imap_unordered(len, ["a", "bc", ""])) == [0, 1, 2]
    assert pool.map(len, []) == []
    assert list(pool.imap(len, [])) == []


def test_an_error_is_raised_where_its_result_is_taken(pool: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        pool.apply(divmod, (1, 0))
    with pytest.raises(ValueError, match="invalid literal"):
        pool.map(int, ["1", "x"])
    results = pool.imap(int, ["1", "x", "3"])
    assert next(results) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(results)
    assert next(results) == 3
    with pytest.raises(StopIteration):
        next(results)
    failed = pool.apply_async(int, ("x",))
    failed.wait(5)
    assert (failed.ready(), failed.successful()) == (True, False)


def test_callbacks_get_the_result_or_the_error(pool: Any) -> None:
    said: list[Any] = []
    for calls in (
        pool.map_async(int, ["1", "2"], callback=said.append, error_callback=said.append),
        pool.starmap_async(int, [("x",)], callback=said.append, error_callback=said.append),
        pool.map_async(int, [], callback=said.append),
    ):
        with suppress(ValueError):
            calls.get(5)
    assert said[0] == [1, 2]
    assert type(said[1]) is ValueError


def test_a_result_that_is_late_is_waited_for_no_longer_than_asked(pool: Any) -> None:
    event = threading.Event()
    late, iterated = pool.apply_async(event.wait), pool.imap(lambda _: event.wait(), [1])
    assert not late.ready()
    with pytest.raises(ValueError, match="not ready"):
        late.successful()
    with pytest.raises(multiprocessing.TimeoutError):
        late.get(0.001)
    with pytest.raises(multiprocessing.TimeoutError):
        iterated.next(0.001)
    event.set()
    assert late.get(5)
    assert iterated.next(5)


def test_a_pool_begins_with_its_initializer_and_ends_once_it_is_closed(make_pool: MakePool) -> None:
    begun: list[str] = []
    pool = make_pool(1, begun.append, ("begun",))
    with pytest.raises(ValueError, match="still running"):
        pool.join()
    last = pool.apply_async(len, ("a",))
    pool.close()
    with pytest.raises(ValueError, match="Pool not running"):
        pool.map(len, ["a"])
    pool.join()
    assert (last.get(5), begun) == (1, ["begun"])
    with pytest.raises(ValueError, match="at least 1"):
        make_pool(0)
    with pytest.raises(NotImplementedError):
        pool.__reduce__()


def test_a_pool_of_processes_says_what_a_page_lacks() -> None:
    with pytest.raises(OSError, match=NO_PROCESSES.partition(":")[0]):
        thread_pool.Pool(2)
