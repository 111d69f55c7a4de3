"""Every asynchronous test of plain CPython has a deadline."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import anyio
import pytest

DEADLINE = 120
"""Seconds, for one test."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Fail a test that waits longer than the deadline, in its own event loop."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return

    @functools.wraps(test)
    async def within_the_deadline(**arguments: Any) -> None:
        with anyio.fail_after(DEADLINE):
            await test(**arguments)

    pyfuncitem.obj = within_the_deadline
