"""Pools of threads in a page: Python's own, over the threads of `threads`, where code can wait.

Elsewhere a function has run when `submit` returns: in browsers without stack switching, while a snapshot is taken, and
in the build. Either way it runs in a copy of the caller's context, as a worker with a name, an identity and locals.
`asyncio.to_thread` uses `loop.run_in_executor`. `anyio.to_thread.run_sync`, by which the SDK calls synchronous tools,
calls its function in the task that awaits it, as a worker of its own. `anyio.from_thread`, with which such functions
call the event loop, waits by stack switching.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.thread import BrokenThreadPool
from contextvars import copy_context
from typing import Any, Final

import anyio.from_thread

from mcpframe.frame.compat import sdk
from mcpframe.frame.compat import stack_switching as waiting
from mcpframe.frame.world import threads

_Pool: Any = ThreadPoolExecutor
_submit = _Pool.submit
_WORKER = "_mcpframe_worker"
_MOST_THREADS: Final = 32
"""Of the event loop's own pool: asyncio's limit on a computer with many processors."""
_of_the_loop: list[ThreadPoolExecutor] = []
_idle: list[threading.Thread] = []
"""Workers of anyio that call nothing now. Later calls use them again, as anyio's do."""


def replace() -> None:
    """Replace the functions that call into threads, and back from them. Does nothing when repeated."""
    _Pool.submit = submit
    loop: Any = type(asyncio.get_running_loop())
    loop.run_in_executor = run_in_executor
    sdk.call_in_worker = call_in_worker
    names: Any = anyio.from_thread
    names.run, names.run_sync = run, run_sync
    names.get_ident, names.Lock = threads.get_ident, threading.Lock  # imported by name before


def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function in a thread, or immediately where no thread can run; return its future."""
    if threads.can_run():
        return _submit(self, copy_context().run, fn, *args, **kwargs)  # type: ignore[no-any-return]
    if self._broken:
        raise BrokenThreadPool(self._broken)
    if self._shutdown:
        raise RuntimeError("cannot schedule new futures after shutdown")
    is_new = not hasattr(self, _WORKER)
    if is_new:
        setattr(self, _WORKER, threads.worker(f"{self._thread_name_prefix}_0"))
    with threads.in_place(getattr(self, _WORKER)):
        if is_new:
            try:
                self._create_worker_context().initialize()
            except BaseException as error:
                self._initializer_failed()
                raise BrokenThreadPool(self._broken) from error
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


def call_in_worker(func: Callable[..., Any], *args: Any) -> Any:
    """Call a function in this task, as a worker of anyio, and return its result."""
    worker = _idle.pop() if _idle else threads.worker("AnyIO worker thread")
    try:
        with threads.in_place(worker):
            return copy_context().run(func, *args)
    finally:
        _idle.append(worker)


def run_in_executor(
    self: asyncio.AbstractEventLoop, executor: Any, func: Callable[..., Any], *args: Any
) -> asyncio.Future[Any]:
    """Call a function in a thread of a pool and return its future; replaces `loop.run_in_executor`."""
    if executor is None:
        if not _of_the_loop:
            _of_the_loop.append(ThreadPoolExecutor(_MOST_THREADS, "asyncio"))
        [executor] = _of_the_loop
    return asyncio.wrap_future(executor.submit(func, *args), loop=self)


def run(func: Callable[..., Coroutine[Any, Any, Any]], *args: Any, token: object = None) -> Any:
    """Call an async function in the event loop, like `anyio.from_thread.run`, and return its result.

    Raises:
        RuntimeError: if this browser has no stack switching.
    """
    if not waiting.can_wait():
        raise RuntimeError(
            f"anyio.from_thread.run cannot wait here: {waiting.why_not()}. Write an async function, and await in it."
        )
    return waiting.wait_for(func(*args))


def run_sync(func: Callable[..., Any], *args: Any, token: object = None) -> Any:
    """Call a function, like `anyio.from_thread.run_sync`."""
    return func(*args)
