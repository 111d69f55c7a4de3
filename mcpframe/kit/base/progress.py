"""One line for each step that takes a while: what is being done, then how long it took. Standard library only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

#: Called with what is about to be done; the step lasts as long as the context it returns.
Progress = Callable[[str], AbstractContextManager[None]]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print `what ... `, and the seconds it took (or `failed`) on the same line when the block ends."""
    print(f"{what} ... ", end="", flush=True, file=sys.stderr)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print("failed", flush=True, file=sys.stderr)
        raise
    print(f"{time.monotonic() - start:.1f} s", flush=True, file=sys.stderr)


def silent(what: str) -> AbstractContextManager[None]:
    """A `Progress` that says nothing."""
    return nullcontext()
