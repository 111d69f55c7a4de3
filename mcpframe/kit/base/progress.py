"""Progress output: one line per step, with the time it took. Standard library only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

#: Called with a description of a step; the step lasts as long as the returned context.
Progress = Callable[[str], AbstractContextManager[None]]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print `what ... `, then on the same line the seconds that the block took, or `failed`."""
    print(f"{what} ... ", end="", flush=True, file=sys.stderr)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print("failed", flush=True, file=sys.stderr)
        raise
    print(f"{time.monotonic() - start:.1f} s", flush=True, file=sys.stderr)


def labelled(label: str, progress: Progress) -> Progress:
    """Return a `Progress` that says what its steps are for."""
    return lambda what: progress(f"{label}: {what[:1].lower()}{what[1:]}")


def silent(what: str) -> AbstractContextManager[None]:
    """A `Progress` that prints nothing."""
    return nullcontext()
