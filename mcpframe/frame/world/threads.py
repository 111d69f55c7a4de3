"""Threads in a page, which has only one: with stack switching each runs as a task of the page's event loop.

Such a thread begins when other code waits, and other code runs while it waits itself: in `time.sleep`, `join`, locks,
events, queues and requests. A computing thread stops the page, as any code does.

In browsers without stack switching a thread cannot run. Starting one raises an error with the place and advice; for a
daemon, which programs use for side work, the error is only logged, and the server continues without it.
`threading.Timer` is a timer of the event loop in all browsers.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sys
import threading
from contextvars import ContextVar
from typing import Any

from mcpframe.frame.world import waiting
from mcpframe.frame.world.locks import PageLock

log = logging.getLogger("mcpframe")

are_run = True
"""Whether threads are run. False in the build, which only inspects a server."""
_TASK = "_mcpframe_task"
_current: ContextVar[threading.Thread | None] = ContextVar("mcpframe_thread", default=None)
_running: set[asyncio.Task[None]] = set()
"""The event loop's own references are weak."""
_Thread: Any = threading.Thread
_Timer: Any = threading.Timer
_main_thread = threading.current_thread
_join = _Thread.join
_is_alive = _Thread.is_alive
_cancel = _Timer.cancel


def replace() -> None:
    """Replace the functions that start threads and wait for them. Does nothing when repeated."""
    if _Thread.start is _start:
        return
    setattr(threading, "Lock", PageLock)  # noqa: B010
    setattr(threading, "_allocate_lock", PageLock)  # noqa: B010
    setattr(queue, "SimpleQueue", queue._PySimpleQueue)  # type: ignore[attr-defined]  # noqa: B010  C's would wait
    setattr(threading, "current_thread", _current_thread)  # noqa: B010
    _Thread.start, _Thread.join, _Thread.is_alive = _start, _join_task, _is_running
    _Timer.cancel = _cancel_timer


def place() -> str:
    """Return the file and line of the code that called Python's library, for errors."""
    ours = (threading.__file__, __file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename in ours or "/concurrent/futures/" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def _start(self: Any) -> None:
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    is_timer = isinstance(self, _Timer) and type(self).run is _Timer.run
    can_run = are_run and (is_timer or waiting.can_ever_wait())
    if not can_run and are_run:
        message = _refusal(self)
        if not self.daemon:
            raise RuntimeError(message)
        log.error("%s The server goes on without it.", message)
    self._started.set()
    task = asyncio.get_running_loop().create_task(_run_timer(self) if is_timer else _run(self)) if can_run else None
    setattr(self, _TASK, task)
    if task is not None:
        _running.add(task)
        task.add_done_callback(_running.discard)


def _refusal(thread: threading.Thread) -> str:
    return (
        f"The thread {thread.name!r} cannot run (started in {place()}): this browser has no stack switching, so that a "
        "page runs one function at a time. Await an async function instead, with asyncio.create_task for what runs in "
        "the background; asyncio.to_thread runs a short function in place."
    )


async def _run(thread: Any) -> None:
    _current.set(thread)
    _call(thread, thread.run)


async def _run_timer(timer: Any) -> None:
    _current.set(timer)
    await asyncio.sleep(timer.interval)
    if not timer.finished.is_set():
        _call(timer, lambda: timer.function(*timer.args, **timer.kwargs))
    timer.finished.set()


def _call(thread: Any, function: Any) -> None:
    try:
        function()
    except SystemExit:
        return
    except BaseException:  # noqa: BLE001  goes to threading.excepthook, as in a thread
        thread._invoke_excepthook(thread)


def _cancel_timer(self: Any) -> None:
    _cancel(self)
    task = getattr(self, _TASK, None)
    if task is not None and task is not _task_here():
        task.cancel()


def _task_here() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _join_task(self: Any, timeout: float | None = None) -> None:
    if not self._initialized:
        raise RuntimeError("Thread.__init__() not called")
    if not self._started.is_set():
        raise RuntimeError("cannot join thread before it is started")
    if not hasattr(self, _TASK):
        _join(self, timeout)
        return
    if self is _current.get():
        raise RuntimeError("cannot join current thread")
    task: asyncio.Task[None] | None = getattr(self, _TASK)
    if task is None or task.done():
        return
    if waiting.can_wait():
        waiting.wait_for(_wait(task, timeout))
    elif timeout is None:
        raise RuntimeError(
            f"The thread {self.name!r} cannot be waited for here ({place()}): in this browser nothing else runs while "
            "synchronous code waits. Await an async function instead."
        )


async def _wait(task: asyncio.Task[None], seconds: float | None) -> None:
    await asyncio.wait([task], timeout=None if seconds is None else max(seconds, 0))


def _is_running(self: Any) -> bool:
    if not hasattr(self, _TASK):
        return bool(_is_alive(self))
    task = getattr(self, _TASK)
    return task is not None and not task.done()


def _current_thread() -> threading.Thread:
    return _current.get() or _main_thread()
