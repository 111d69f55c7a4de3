"""The world of code written for a process, as far as it needs no page; see tests/in_pyodide/test_world.py."""

from __future__ import annotations

import ipaddress
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mcpframe.frame import world
from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.compat import stack_switching as waiting
from mcpframe.frame.world import host_names, resource_module
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
    assert resource_module.getrlimit(resource_module.RLIMIT_NOFILE) == (-1, -1)
    resource_module.setrlimit(resource_module.RLIMIT_NOFILE, (10, 20))
    assert resource_module.prlimit(0, resource_module.RLIMIT_NOFILE, (-1, -1)) == (10, 20)
    assert resource_module.getrlimit(resource_module.RLIMIT_NOFILE) == (-1, -1)
    with pytest.raises(ValueError, match="invalid resource"):
        resource_module.getrlimit(99)


@pytest.mark.parametrize("host", ["page.example", "PAGE.example.", b"page.example", "127.0.0.1.page.example", "0x.de"])
def test_a_name_that_can_be_public_has_a_public_address(host: str | bytes) -> None:
    address = ipaddress.ip_address(host_names.looked_up(host))
    assert address.is_global
    assert not any((address.is_private, address.is_reserved, address.is_link_local, address.is_multicast))


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "printer", "db.internal", "nas.local", "a.localhost.", "router.home.arpa", "git.corp"),
        *(
            "127.0.0.1",
            "127.1",
            "0x7f.0x1",
            "0X7F.0X1",
            "10.0.0.1",
            "192.168.0.1.",
            "::1",
            "fe80::1%eth0",
            "::ffff:10.0.0.1",
            "",
            None,
            b"10.0.0.1",
        ),
    ],
)
def test_numbers_and_names_of_a_local_network_are_left_as_they_are(host: Any) -> None:
    assert host_names.looked_up(host) is host
