"""Progress output: one line per step, with the time it took. Standard library only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

#: Called with a description of a step; the step lasts as long as the returned context.
Progress = Callable[[str], AbstractContextManager[None]]

COUNTS_EVERY = 1.0
"""Seconds between two counts of a step, and before the first."""
_say: ContextVar[Callable[[str], None] | None] = ContextVar("_say", default=None)
_update: ContextVar[Callable[[int, int], None] | None] = ContextVar("_update", default=None)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print `what ... `, then on the same line the seconds that the block took, or `failed`."""
    print(f"{what} ... ", end="", flush=True, file=sys.stderr)
    start = time.monotonic()
    try:
        with counting(lambda counted: print(f"{counted} ... ", end="", flush=True, file=sys.stderr)):
            yield
    except BaseException:
        print("failed", flush=True, file=sys.stderr)
        raise
    print(f"{time.monotonic() - start:.1f} s", flush=True, file=sys.stderr)


@contextmanager
def counting(show: Callable[[str], None], say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Show what `count` reports while the block lasts: at most once a second, and not in its first second.

    Args:
        show: Called with a count, such as "12/29".
        say: Called at once with each `remark`; by default as with a count.
    """
    shown = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= COUNTS_EVERY:
            shown = now
            show(f"{done}/{total}")

    token, showing = _update.set(update), _say.set(say or show)
    try:
        yield
    finally:
        _update.reset(token)
        _say.reset(showing)


def remark(text: str) -> None:
    """Show a finding within the current step at once; without a step this does nothing."""
    if say := _say.get():
        say(text)


def count(done: int, total: int) -> None:
    """Report how many items of the current step are done; without a step, or of no items, this does nothing."""
    if total and (update := _update.get()):
        update(done, total)


def labelled(label: str, progress: Progress) -> Progress:
    """Return a `Progress` that labels its steps with their purpose."""
    return lambda what: progress(f"{label}: {what[:1].lower()}{what[1:]}")


def silent(what: str) -> AbstractContextManager[None]:
    """A `Progress` that prints nothing."""
    return nullcontext()
