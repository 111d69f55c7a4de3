"""The output of commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from rich import markup
from rich.console import Console, RenderableType
from rich.status import Status

from mcpframe.kit.base.progress import counting
from mcpframe.kit.base.terminal import visible

MOST_NAMED = 12
"""The most names in a line."""

err = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False, soft_wrap=True)


def escape(text: str) -> str:
    """Escape untrusted text for `out` and `err`, so that neither rich's markup nor control characters take effect."""
    return markup.escape(visible(text))


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show a step while it runs, and then its duration: on a terminal in place, elsewhere on the same line."""
    start = time.monotonic()
    if err.is_terminal:
        line = _Line(what)
        with _status(line), counting(line.count, lambda remark: err.print(f"[dim]{escape(remark)}[/]")):
            yield
        err.print(f"[dim]{escape(what)}: {time.monotonic() - start:.1f} s[/]")
        return
    err.print(f"[dim]{escape(what)} ... [/]", end="")
    err.file.flush()

    def show(counted: str) -> None:
        err.print(f"[dim]{escape(counted)} ... [/]", end="")
        err.file.flush()

    try:
        with counting(show):
            yield
    except BaseException:
        err.print("[dim]failed[/]")
        raise
    err.print(f"[dim]{time.monotonic() - start:.1f} s[/]")


def _status(line: RenderableType) -> Status:
    """Return a line with a spinner that the terminal's encoding has."""
    return err.status(line, spinner="dots" if err.encoding.startswith("utf") else "line")


class _Line:
    """A step's line on a terminal: what, the last count, and its seconds from the first one on."""

    def __init__(self, what: str) -> None:
        self._what = escape(what)
        self._start = time.monotonic()
        self._counted = ""

    def count(self, counted: str) -> None:
        self._counted = f" {counted}"

    def __rich__(self) -> str:
        """Return the line as of now: the terminal is drawn anew several times a second."""
        seconds = int(time.monotonic() - self._start)
        return f"{self._what}{self._counted}{f' [dim]{seconds} s[/]' if seconds else ''}"


@contextmanager
def silently(_what: str) -> Iterator[None]:
    """Show nothing."""
    yield


def some_of(names: Sequence[str]) -> str:
    """Return names for a line: the first ones, and how many more there are; escaped."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return escape(", ".join(names[:MOST_NAMED])) + more


def print_error(error: Exception) -> None:
    """Print an error's message, and its details if it has any."""
    message, _, details = str(error).partition("\n")
    err.print(f"[bold red]error:[/] {escape(message)}")
    if details:
        err.print(escape(details))


def keep_running() -> NoReturn:
    """Print how the command ends, and wait for that."""
    out.print("Ctrl-C stops it.")
    while True:
        time.sleep(3600)


class Meter:
    """The progress of a call: one changing line on a terminal, otherwise a new line for each change."""

    def __init__(self, what: str) -> None:
        """Show nothing until there is progress.

        Args:
            what: The name of the call.
        """
        self._what = what
        self._status: Status | None = None
        self._last = ""

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the line until there is more progress."""
        if self._status:
            self._status.stop()
            self._status = None

    async def show(self, progress: float, total: float | None, message: str | None) -> None:
        """Show the progress; this is the progress callback of `mcp.Client`."""
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
            self._status = _status(escape(line))
            self._status.start()
