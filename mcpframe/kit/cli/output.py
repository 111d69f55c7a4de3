"""Where commands print: results to stdout, everything else to stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich import markup
from rich.console import Console
from rich.status import Status

from mcpframe.kit.base.terminal import visible

err = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False, soft_wrap=True)


def escape(text: str) -> str:
    """Return text of others for `out` and `err`: neither rich's markup in it nor control characters take effect."""
    return markup.escape(visible(text))


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


class Meter:
    """The progress of a call: one line that changes on a terminal, elsewhere a line whenever it says something new."""

    def __init__(self, what: str) -> None:
        """Show nothing until there is progress.

        Args:
            what: What makes progress.
        """
        self._what = what
        self._status: Status | None = None
        self._last = ""

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away until there is more progress."""
        if self._status:
            self._status.stop()
            self._status = None

    async def show(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far it is: the progress callback of `mcp.Client`."""
        share = f"{min(max(progress / total, 0), 1):.0%}" if total and total > 0 else f"{progress:g}"
        line = f"{self._what}: {share}{f' {message}' if message else ''}"
        if line == self._last:
            return
        self._last = line
        if not err.is_terminal:
            err.print(f"[dim]{escape(line)}[/]")
        elif self._status:
            self._status.update(escape(line))
        else:
            self._status = err.status(escape(line))
            self._status.start()
