"""Stack switching: a synchronous function waits for a coroutine while the page goes on. Not all browsers have it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import js
from pyodide.ffi import can_run_sync, run_sync


def is_there() -> bool:
    """Return whether this browser has it: what the event loop calls can wait."""
    return hasattr(js.WebAssembly, "Suspending")


def can_wait() -> bool:
    """Return whether `wait_for` works here and now."""
    return bool(can_run_sync())


def wait_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end from a synchronous function, and return its result."""
    return run_sync(coroutine)
