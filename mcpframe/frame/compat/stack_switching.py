"""Waiting in synchronous code, by stack switching, in browsers that have it."""

from __future__ import annotations

from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from mcpframe.frame.compat import in_pyodide


def can_ever_wait() -> bool:
    """Return whether callbacks of an event loop can wait."""
    return in_pyodide() and bool(import_module("mcpframe.frame.browser.stack").is_there())


def can_wait() -> bool:
    """Return whether this code can wait now."""
    return in_pyodide() and bool(import_module("mcpframe.frame.browser.stack").can_wait())


def why_not() -> str:
    """Return why code cannot wait here, as the end of a sentence."""
    if can_ever_wait():
        return "the page's own code, and not the event loop, has called it"
    return "this browser has no stack switching (WebAssembly's JSPI)"


def wait_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, while other tasks of the page continue, and return its result."""
    return import_module("mcpframe.frame.browser.stack").wait_for(coroutine)
