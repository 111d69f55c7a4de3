"""Run functions for a pool of threads in place: they have run when `submit` returns.

`asyncio.to_thread` uses `loop.run_in_executor`; `anyio.to_thread.run_sync` is replaced by `compat.sdk`. A function runs
in a copy of the caller's context, as in a thread. `anyio.from_thread`, with which such functions call the event loop,
waits by stack switching.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import anyio.from_thread

from mcpframe.frame.world import waiting

_Pool: Any = ThreadPoolExecutor
_original_init = _Pool.__init__
_INITIALIZER = "_mcpframe_initializer"


def replace() -> None:
    """Replace the functions that call into threads, and back from them. Does nothing when repeated."""
    _Pool.__init__, _Pool.submit = _init, submit
    loop: Any = type(asyncio.get_running_loop())
    loop.run_in_executor = run_in_executor
    anyio.from_thread.run = run  # type: ignore[assignment]
    anyio.from_thread.run_sync = run_sync  # type: ignore[assignment]


def _init(
    self: Any,
    max_workers: int | None = None,
    thread_name_prefix: str = "",
    initializer: Callable[..., Any] | None = None,
    initargs: tuple[Any, ...] = (),
    **options: Any,
) -> None:
    _original_init(self, max_workers, thread_name_prefix, initializer, initargs, **options)
    setattr(self, _INITIALIZER, initializer and (lambda: initializer(*initargs)))


def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function immediately, in place of `ThreadPoolExecutor.submit`, and return its future."""
    if self._shutdown:
        raise RuntimeError("cannot schedule new futures after shutdown")
    initializer = getattr(self, _INITIALIZER, None)
    if initializer is not None:
        setattr(self, _INITIALIZER, None)
        initializer()
    return call(fn, *args, **kwargs)


def call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function in a copy of the context, and return a future that is done."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = copy_context()
    try:
        future.set_result(context.run(fn, *args, **kwargs))
    except BaseException as error:  # noqa: BLE001  raised by `result()`, as with a thread
        future.set_exception(error)
    return future


def run_in_executor(
    self: asyncio.AbstractEventLoop, executor: Any, func: Callable[..., Any], *args: Any
) -> asyncio.Future[Any]:
    """Call a function immediately, in place of `loop.run_in_executor`, and return its future."""
    submitted = call(func, *args) if executor is None else executor.submit(func, *args)
    return asyncio.wrap_future(submitted, loop=self)


def run(func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, token: object = None) -> Any:
    """Call an async function in the event loop, like `anyio.from_thread.run`, and return its result.

    Raises:
        RuntimeError: if this browser has no stack switching.
    """
    if not waiting.can_wait():
        raise RuntimeError(
            "anyio.from_thread.run cannot wait here: this browser has no stack switching. Write an async function, and "
            "await in it."
        )
    return waiting.wait_for(func(*args))


def run_sync(func: Callable[..., Any], *args: Any, token: object = None) -> Any:
    """Call a function, like `anyio.from_thread.run_sync`."""
    return func(*args)
