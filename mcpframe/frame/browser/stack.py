"""Stack switching: a synchronous function waits for a coroutine while the page runs. Not all browsers have it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import js
from pyodide import webloop
from pyodide.ffi import can_run_sync, create_once_callable, run_sync


def is_there() -> bool:
    """Return whether this browser has it, so that callbacks of the event loop can wait."""
    return hasattr(js.WebAssembly, "Suspending")


def can_wait() -> bool:
    """Return whether `wait_for` works at this point."""
    return bool(can_run_sync())


def wait_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end from a synchronous function, and return its result."""
    return run_sync(coroutine)


@asynccontextmanager
async def spared() -> AsyncIterator[None]:
    """Run the event loop's callbacks on the page's own stack during the block, where none of them can wait.

    Pyodide's loop gives each callback a WebAssembly coroutine stack. Chromium's heap profiler, which is on in some
    browsers, ends a page that allocates there. For a block in which none of the author's code runs.
    """
    webloop.create_once_callable = _once
    try:
        yield
    finally:
        webloop.create_once_callable = create_once_callable
    await asyncio.sleep(0)  # continue in another trip: see `compat.batching`


def is_spared() -> bool:
    """Return whether callbacks run on the page's own stack: see `spared`."""
    return webloop.create_once_callable is _once


def _once(function: Callable[[], object], *, _may_syncify: bool = False) -> Any:
    return create_once_callable(function)
