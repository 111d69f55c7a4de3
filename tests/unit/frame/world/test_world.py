"""What code written for a process finds around it, as far as it needs no page; see tests/in_pyodide/test_world.py."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from mcpframe.frame import world
from mcpframe.frame.compat.sdk import in_pyodide
from mcpframe.frame.world import limits, waiting
from mcpframe.frame.world.executors import call
from mcpframe.frame.world.locks import PageLock


@pytest.mark.skipif(in_pyodide(), reason="there it replaces them")
def test_nothing_is_replaced_outside_of_a_page() -> None:
    submit = ThreadPoolExecutor.submit
    world.prepare()
    assert ThreadPoolExecutor.submit is submit
    assert (waiting.can_ever_wait(), waiting.can_wait()) == (False, False)


def test_a_function_called_in_place_hands_over_what_it_raises() -> None:
    assert call(len, "ab").result() == 2
    failed = call(int, "x")
    assert isinstance(failed.exception(), ValueError)
    assert isinstance(call(exit, 1).exception(), SystemExit)


def test_a_lock_that_is_free_is_taken_and_released() -> None:
    lock = PageLock()
    with lock as taken:
        assert (taken, lock.locked(), lock.acquire(blocking=False)) == (True, True, False)
    assert not lock.locked()
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        lock.release()


@pytest.mark.parametrize(("blocking", "timeout"), [(False, 1), (True, -2)])
def test_a_lock_checks_its_arguments_as_the_standard_one(blocking: bool, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        PageLock().acquire(blocking, timeout)


@pytest.mark.skipif(in_pyodide(), reason="there it waits")
def test_a_lock_that_nobody_can_release_is_an_error() -> None:
    lock = PageLock()
    lock.acquire()
    with pytest.raises(RuntimeError, match=r"wait for ever.*asyncio"):
        lock.acquire()
    assert not lock.acquire(timeout=0.001)


def test_limits_are_kept_but_unknown_ones_are_not() -> None:
    assert limits.getrlimit(limits.RLIMIT_NOFILE) == (-1, -1)
    limits.setrlimit(limits.RLIMIT_NOFILE, (10, 20))
    assert limits.prlimit(0, limits.RLIMIT_NOFILE, (-1, -1)) == (10, 20)
    assert limits.getrlimit(limits.RLIMIT_NOFILE) == (-1, -1)
    with pytest.raises(ValueError, match="invalid resource"):
        limits.getrlimit(99)
