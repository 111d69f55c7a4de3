"""A log on standard error that never waits for its reader: clients over stdio need not read it, and some do not."""

from __future__ import annotations

import logging
import os
import queue
import threading
from typing import Final

MOST_WAITING: Final = 1000
"""How many lines wait for the reader; further ones are left out."""
_GRACE_SECONDS = 0.5
"""How long lines may take to be written at the end."""


class StandardErrorHandler(logging.Handler):
    """Writes each record as a line, in a thread of its own.

    Args:
        descriptor: Where it writes.
    """

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._left_out = 0
        # Not through `sys.stderr`: Python would wait for its lock when it exits.
        self._thread = threading.Thread(target=self._write_all, name="standard error", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """As `logging.Handler.emit`."""
        if self._lines.qsize() >= MOST_WAITING:
            self._left_out += 1
            return
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  as the library's own handlers have it
            self.handleError(record)
            return
        if self._left_out:
            line = f"({self._left_out} lines were left out, as nobody read them.)\n{line}"
            self._left_out = 0
        self._lines.put(line)

    def close(self) -> None:
        """Write what waits, if it is read."""
        self._lines.put(None)
        self._thread.join(_GRACE_SECONDS)
        super().close()

    def _write_all(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                rest = memoryview(f"{line}\n".encode("utf-8", "backslashreplace"))
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            return  # nobody reads it any more
