"""Threads in a page, which has only one: with stack switching each runs as a task of the page's event loop.

Such a thread begins when other code waits, and other code runs while it waits itself: in `time.sleep`, `join`, locks,
events, queues and requests. A computing thread stops the page, as any code does.

What the system does for Python is replaced here and in `locks`: starting a thread, its handle, its identity, its
locals. Everything above is Python's own, `current_thread` and pools of threads included. The identity of running code
is that of its asyncio task, which stays right where several of them wait.

In browsers without stack switching a thread cannot run. Starting one raises an error with the place and advice; for a
daemon, which programs use for side work, the error is only logged, and the server continues without it.
`threading.Timer` is a timer of the event loop in all browsers.
"""

from __future__ import annotations

import _thread
import _threading_local
import asyncio
import itertools
import logging
import queue
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from mcpframe.frame.compat import event_loops
from mcpframe.frame.compat import stack_switching as waiting
from mcpframe.frame.world.locks import PageLock

log = logging.getLogger("mcpframe")

are_run = True
"""Whether threads are run. False in the build, which only inspects a server."""
_threading: Any = threading
_Timer: Any = threading.Timer
_cancel = _Timer.cancel
_main_ident = _thread.get_ident
_numbers = itertools.count(_main_ident() + 1)
_identities: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
"""The identity of the thread that each task runs, for those that run one."""
_running: set[asyncio.Task[None]] = set()
"""The event loop's own references are weak."""


class Handle:
    """A `threading._ThreadHandle`: what `Thread` knows of the system's thread."""

    def __init__(self) -> None:
        self.ident: int | None = None
        self.task: asyncio.Task[None] | None = None
        self.cancelled: asyncio.Event | None = None
        self._is_done = False

    def is_done(self) -> bool:
        """Return whether the thread has ended."""
        return self._is_done or (self.task is not None and self.task.done())

    def _set_done(self) -> None:
        self._is_done = True

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread ends, or the seconds have passed.

        Raises:
            RuntimeError: if it cannot end, as this code cannot let it run.
        """
        if self.is_done() or self.task is None:
            return
        if waiting.can_wait():
            waiting.wait_for(_wait(self.task, timeout))
        elif timeout is None:
            raise RuntimeError(
                f"The thread cannot be waited for here ({place()}): nothing else runs while this synchronous code "
                f"waits, as {waiting.why_not()}. Await an async function instead."
            )


def replace() -> None:
    """Replace what the system does for `threading`. Does nothing when repeated."""
    if _threading._start_joinable_thread is start:
        return
    _threading.Lock = _threading._allocate_lock = PageLock
    _threading._CRLock = None  # `RLock` is then Python's own, over `PageLock` and `get_ident`
    _threading._ThreadHandle = Handle
    _threading._start_joinable_thread = start
    _threading.get_ident = _thread.get_ident = get_ident
    _threading.local = _threading_local.local
    # A thread starts in its creator's context: what it prints belongs to the same request.
    _threading._contextvars = SimpleNamespace(Context=copy_context, copy_context=copy_context)
    setattr(_thread, "start_new_thread", _start_new)  # noqa: B010
    setattr(queue, "SimpleQueue", queue._PySimpleQueue)  # type: ignore[attr-defined]  # noqa: B010  C's would wait
    _Timer.cancel = _cancel_timer
    event_loops.as_caller = _inherited


def can_run() -> bool:
    """Return whether threads are run, and this code can wait for them."""
    return are_run and waiting.can_wait()


def get_ident() -> int:
    """Return the identity of the thread that runs this code."""
    task = _task_here()
    return _main_ident() if task is None else _identities.get(task) or _main_ident()


def worker(name: str) -> threading.Thread:
    """Return a thread whose functions other code calls: see `in_place`."""
    thread: Any = threading.Thread(name=name, daemon=True)
    thread._ident = thread._os_thread_handle.ident = next(_numbers)
    thread._started.set()
    return thread  # type: ignore[no-any-return]


@contextmanager
def in_place(thread: threading.Thread) -> Iterator[None]:
    """Run the code of this block with the identity of another thread, in this task."""
    task = _task_here()
    if task is None:  # a callback of the event loop or of the page: there is nothing to tell it from others
        yield
        return
    before = _identities.get(task)
    _identities[task] = thread.ident or 0
    _threading._active[thread.ident] = thread
    try:
        yield
    finally:
        if before is None:
            del _identities[task]
        else:
            _identities[task] = before
        if before != thread.ident:
            _threading._active.pop(thread.ident, None)


def place() -> str:
    """Return the file and line of the code that called Python's library, for errors."""
    ours = (threading.__file__, __file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename in ours or "/concurrent/futures/" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def start(function: Callable[[], object], handle: Handle | None = None, daemon: bool = True) -> Handle:
    """Run a function as a thread, in place of `threading._start_joinable_thread`.

    Raises:
        RuntimeError: if this browser cannot run it, unless it is a daemon.
    """
    handle = handle or Handle()
    thread: Any = getattr(function, "__self__", None)  # `Thread.start` passes its method `_bootstrap`
    timer = thread if isinstance(thread, _Timer) and type(thread).run is _Timer.run else None
    if are_run and (timer or waiting.can_ever_wait()):
        handle.ident = next(_numbers)
        handle.task = task = asyncio.get_running_loop().create_task(_run(function, handle, timer))
        _identities[task] = handle.ident
        _running.add(task)
        task.add_done_callback(_running.discard)
    else:
        if are_run:
            _refuse(getattr(thread, "name", ""), daemon)
        handle._set_done()
        _threading._limbo.pop(thread, None)
    if hasattr(thread, "_started"):  # `Thread.start` waits for it: the thread begins later
        thread._ident = handle.ident
        thread._started.set()
    return handle


def _start_new(function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> int:
    """Do what `_thread.start_new_thread` does."""
    return start(partial(function, *args, **(kwargs or {}))).ident or 0


def _refuse(name: str, daemon: bool) -> None:
    message = (
        f"The thread {name!r} cannot run (started in {place()}): this browser has no stack switching, so that a "
        "page runs one function at a time. Await an async function instead, with asyncio.create_task for what runs in "
        "the background; asyncio.to_thread runs a short function in place."
    )
    if not daemon:
        raise RuntimeError(message)
    log.error("%s The server goes on without it.", message)


async def _run(function: Callable[[], object], handle: Handle, timer: Any) -> None:
    if timer is not None:
        handle.cancelled = asyncio.Event()
        if timer.finished.is_set():
            handle.cancelled.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(handle.cancelled.wait(), timer.interval)
        timer.run = partial(_fire, timer)
    with suppress(SystemExit):  # ends the thread
        function()


def _fire(timer: Any) -> None:
    if not timer.finished.is_set():
        timer.function(*timer.args, **timer.kwargs)
    timer.finished.set()


def _cancel_timer(self: Any) -> None:
    _cancel(self)
    if self._os_thread_handle.cancelled is not None:
        self._os_thread_handle.cancelled.set()


def _task_here() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs: code of the page, before or after it
        return None


def _inherited(coroutine: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that has the identity of the thread that runs it in an event loop of its own."""
    ident = get_ident()

    async def run() -> Any:
        if ident != _main_ident() and (task := _task_here()) is not None:
            _identities[task] = ident
        return await coroutine

    return run()


async def _wait(task: asyncio.Task[None], seconds: float | None) -> None:
    await asyncio.wait([task], timeout=seconds)
