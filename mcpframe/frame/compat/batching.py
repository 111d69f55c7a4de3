"""Run all ready asyncio callbacks in one task of the browser's event loop, instead of one task each.

Pyodide's event loop gives every ready callback a task of the browser, and a `tools/call` takes ten of them: in Chromium
that costs more than the call. Here a trip runs the ready callbacks, in order, for a few milliseconds at most; then the
browser gets a turn, so that messages arrive and the page stays responsive. A trip is itself a callback of Pyodide's
loop, which still manages the running loop and asynchronous generators.

A SystemExit or KeyboardInterrupt in a task or callback would propagate out of the loop. There is no process to end, so
it is reported like any other uncaught exception. Code that awaits the task still gets the exception.

A trip on the page's own stack, where nothing can wait (`stack.spared`), ends together with that block: callbacks that
are ready then may be the author's, and run in the next trip.

What waits for the loop to be idle (`call_when_idle`), or for the browser's turn (`call_after_turn`), runs as a part of
a trip, too: entering Python once more costs as much as ten callbacks.

A timer for a time in the past is due immediately, as in asyncio's own loops. Pyodide's loop raises ValueError instead,
which would break a timeout (anyio's, asyncio's) whose deadline passes while it is being set.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

_IDLE, _AFTER_TURN = "mcpframe_when_idle", "mcpframe_after_turn"
"""Attributes of a loop with batches."""

BUDGET = 0.004
"""The longest a trip may take, in seconds, before it yields; a callback that takes longer ends its trip."""


def batch_callbacks(
    loop: asyncio.AbstractEventLoop,
    *,
    clock: Callable[[], float] = time.monotonic,
    is_spared: Callable[[], bool] = lambda: False,
) -> None:
    """Let an event loop run ready callbacks together, and accept timers that are already due.

    Args:
        loop: Pyodide's event loop, or another whose `call_later` runs a callback in a task of its own.
        clock: a monotonic clock in seconds.
        is_spared: returns whether trips are scheduled on the page's own stack.
    """
    ready: deque[asyncio.Handle] = deque()
    idle: deque[tuple[int, asyncio.Handle]] = deque()  # each with the round after which it runs anyway
    coming = spared = False
    rounds = left = 0  # a round has the callbacks that were ready when it began; `left` are still to run

    def call_soon(callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, loop, context)
        ready.append(handle)
        come_back()
        return handle

    def come_back() -> None:
        nonlocal coming, spared
        if not coming:
            coming, spared = True, is_spared()
            loop.call_later(0, come)

    def run(handle: asyncio.Handle) -> None:
        try:
            handle._run()
        except (SystemExit, KeyboardInterrupt) as error:
            report(f"{type(error).__name__} in {handle!r}: a page has no process to end", error)

    def report(message: str, error: BaseException | None = None) -> None:
        loop.call_exception_handler({"message": message} | ({"exception": error} if error else {}))

    def call_when_idle(callback: Callable[[], object], most: int) -> None:
        idle.append((rounds + most, asyncio.Handle(callback, (), loop)))
        come_back()

    def call_after_turn(callback: Callable[[], object]) -> None:
        was_spared = is_spared()

        def begin() -> None:
            ready.append(asyncio.Handle(callback, (), loop))
            trip(was_spared)

        loop.call_later(0, begin)

    def come() -> None:
        nonlocal coming
        coming = False
        trip(spared)

    def trip(was_spared: bool) -> None:
        nonlocal rounds, left
        until = clock() + BUDGET
        while (ready or idle) and (is_spared() or not was_spared):
            if not left:
                rounds, left = rounds + 1, len(ready)
            if idle and (not ready or idle[0][0] < rounds):
                handle = idle.popleft()[1]
            else:
                handle, left = ready.popleft(), left - 1
            if ready:
                # Before the callback, which may be suspended (`run_sync`) or raise SystemExit.
                come_back()
            if not handle.cancelled():
                run(handle)
            if clock() >= until:
                break
        if ready or idle:
            come_back()

    def call_at(
        when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return loop.call_later(max(0.0, when - loop.time()), callback, *args, context=context)

    if hasattr(loop, "_system_exit_handler"):  # Pyodide's, for timers
        loop._system_exit_handler = lambda code: report(f"A timer raised SystemExit({code!r})")
        loop._keyboard_interrupt_handler = lambda: report("A timer raised KeyboardInterrupt")  # type: ignore[attr-defined]
    loop.call_soon = call_soon  # type: ignore[method-assign, assignment]
    loop.call_at = call_at  # type: ignore[method-assign, assignment]
    setattr(loop, _IDLE, call_when_idle)
    setattr(loop, _AFTER_TURN, call_after_turn)


def call_when_idle(loop: asyncio.AbstractEventLoop, callback: Callable[[], object], most: int) -> None:
    """Call a function once no callback is ready; at the latest after so many rounds of those that are."""
    batched = getattr(loop, _IDLE, None)
    if batched:
        batched(callback, most)
    elif most:
        loop.call_soon(call_when_idle, loop, callback, most - 1)
    else:
        callback()


def call_after_turn(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    """Call a function after a turn of the event loop: in a page, after the messages that wait by now."""
    batched = getattr(loop, _AFTER_TURN, None)
    if batched:
        batched(callback)
    else:
        loop.call_later(0, callback)
