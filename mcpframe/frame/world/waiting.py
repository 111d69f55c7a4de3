"""Waiting in synchronous code: by stack switching, where the browser has it."""

from __future__ import annotations

from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from mcpframe.frame.compat.sdk import in_pyodide


def can_ever_wait() -> bool:
    """Return whether what an event loop calls can wait."""
    return in_pyodide() and bool(import_module("mcpframe.frame.browser.stack").is_there())


def can_wait() -> bool:
    """Return whether this code can wait, here and now."""
    return in_pyodide() and bool(import_module("mcpframe.frame.browser.stack").can_wait())


def wait_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, while other tasks of the page go on, and return its result."""
    return import_module("mcpframe.frame.browser.stack").wait_for(coroutine)
