"""Where commands print: results to stdout, everything else to stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

err = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False, soft_wrap=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show a step on a terminal while it lasts, and leave a line with its duration."""
    start = time.monotonic()
    if err.is_terminal:
        with err.status(escape(what)):
            yield
    else:
        yield
    err.print(f"[dim]{escape(what)}: {time.monotonic() - start:.1f} s[/]")


@contextmanager
def silently(_what: str) -> Iterator[None]:
    """Show nothing."""
    yield


def print_error(error: Exception) -> None:
    """Print an error's sentence, and its details where it has some."""
    message, _, details = str(error).partition("\n")
    err.print(f"[bold red]error:[/] {escape(message)}")
    if details:
        err.print(escape(details))
