"""Replace the functions that start event loops while a console script's function runs: the page has one loop already.

With stack switching a coroutine runs to its end inside of the function. Without, it is recorded, the function is
unwound by an exception, and the coroutine is awaited then. If the coroutine has not served, the function is run again,
and gets its result: programs prepare in one event loop and serve in the next.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from asyncio import base_events
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from importlib import import_module
from types import FrameType
from typing import Any

import anyio

from mcpframe.frame.compat import event_loops, stack_switching
from mcpframe.frame.compat.event_loops import PageLoop

Place = tuple[str, int, str]
"""A file, a line and a function's name."""

_MOST_PLACES = 50
"""The innermost frames, for an error's text: the program's own are among them."""


class Unwound(BaseException):
    """Ends the function at the point where it would wait for an event loop."""


class Loops:
    """The event loops that a program has started.

    Attributes:
        noted: the coroutine to run after the unwinding, if the program cannot wait for it.
        results: the results of the coroutines recorded before, in the order in which the function starts them.
        has_run: whether a coroutine was run.
        is_serving: whether the recorded coroutine is awaited.
        places: the calls that led to the start of the last one, outermost first.
    """

    def __init__(self) -> None:
        self.noted: Coroutine[Any, Any, Any] | None = None
        self.results: list[Any] = []
        self.has_run = self.is_serving = False
        self._reused = 0
        self.places: list[Place] = []
        self.tasks_before = asyncio.all_tasks()

    def again(self, result: Any) -> None:
        """Prepare to run the function again, with the result of the recorded coroutine."""
        self.results.append(result)
        self.noted, self.is_serving, self._reused = None, False, 0

    def run(self, awaitable: Any) -> Any:
        """Run a coroutine, or record it and unwind the function."""
        if self.is_serving:  # called by one of its handlers
            return event_loops.run(awaitable)
        if self.noted is not None:  # the function has caught the first one, or cleans up
            _close(awaitable)
            raise Unwound
        if self._reused < len(self.results):
            self._reused += 1
            _close(awaitable)
            return self.results[self._reused - 1]
        coroutine = awaitable if inspect.iscoroutine(awaitable) else _awaiting(awaitable)
        self.places = _places()
        if stack_switching.can_wait():
            self.has_run = True
            return stack_switching.wait_for(coroutine)
        self.noted = coroutine
        raise Unwound

    async def until_stopped(self) -> None:
        """Return as soon as `loop.stop()` is called, or the tasks that the program has created are done."""
        stopped = asyncio.Event()
        _forever.append(stopped)
        theirs = asyncio.all_tasks() - self.tasks_before - {asyncio.current_task()}
        waiting = asyncio.ensure_future(stopped.wait())
        try:
            while theirs and not stopped.is_set():
                done, _ = await asyncio.wait([waiting, *theirs], return_when=asyncio.FIRST_COMPLETED)
                theirs -= done
                for task in done:
                    task.result()
        finally:
            waiting.cancel()
            _forever.remove(stopped)


current: ContextVar[Loops | None] = ContextVar("mcpframe_loops", default=None)
"""The event loops of the program whose function runs in this context."""
_forever: list[asyncio.Event] = []
_replaced: set[object] = set()


def replace_loops() -> None:
    """Replace the functions that start an event loop: while a program's function runs, they call `Loops`."""
    eventloop: Any = import_module("anyio._core._eventloop")
    original = asyncio.run
    if original in _replaced:
        return

    def asyncio_run(main: Any, **options: Any) -> Any:
        loops = current.get()
        return original(main, **options) if loops is None else loops.run(main)

    anyio_original = eventloop.run

    def anyio_run(func: Any, *args: Any, **options: Any) -> Any:
        loops = current.get()
        return anyio_original(func, *args, **options) if loops is None else loops.run(func(*args))

    asyncio.run = asyncio.runners.run = asyncio_run
    anyio.run = eventloop.run = anyio_run  # type: ignore[assignment]
    for owner, name in (asyncio.Runner, "run"), *((kind, "run_until_complete") for kind in _loop_types()):
        setattr(owner, name, _dispatching(getattr(owner, name)))
    for kind in _loop_types():
        setattr(kind, "run_forever", _running_forever(kind.run_forever))  # noqa: B010
        setattr(kind, "stop", _stopping(kind.stop))  # noqa: B010
    _replaced.add(asyncio_run)


def _dispatching(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(owner: object, awaitable: Any, **options: Any) -> Any:
        loops = current.get()
        return method(owner, awaitable, **options) if loops is None else loops.run(awaitable)

    return run


def _running_forever(method: Callable[..., Any]) -> Callable[..., Any]:
    def run_forever(owner: object) -> Any:
        loops = current.get()
        return method(owner) if loops is None else loops.run(loops.until_stopped())

    return run_forever


def _stopping(method: Callable[..., Any]) -> Callable[..., Any]:
    def stop(owner: object) -> None:
        for stopped in _forever:
            stopped.set()
        if not _forever:
            method(owner)

    return stop


def _loop_types() -> list[type[Any]]:
    return list(dict.fromkeys((base_events.BaseEventLoop, type(asyncio.get_running_loop()), PageLoop)))


def _places() -> list[Place]:
    frame: FrameType | None = sys._getframe(2)
    places: list[Place] = []
    while frame is not None and len(places) < _MOST_PLACES:
        places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return places[::-1]


def _close(awaitable: Any) -> None:
    if inspect.iscoroutine(awaitable):
        awaitable.close()


async def _awaiting(awaitable: Any) -> Any:
    return await awaitable
