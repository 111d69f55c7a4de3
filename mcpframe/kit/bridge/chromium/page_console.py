"""The console of a server's page, as lines of the bridge's standard error.

Clients show or keep the standard error of a server as its log. In a page, `print`, `sys.stderr` and `logging` write to
the console.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mcpframe.frame.waiting.token_bucket import TokenBucket
from mcpframe.kit.base.terminal import VisibleFormatter
from mcpframe.kit.browser.devtools.protocol import text_of
from mcpframe.kit.edges.stdio.streams import StandardErrorHandler

LONGEST_EVENT = 1 << 16
"""The longest event of a console that is read, in bytes: a page can make them as long as it likes."""
_MOST_AT_ONCE = 1000
_PER_SECOND = 100
"""Lines; a page that writes more does not fill the disk with its client's log."""
_NEVER_SHOWN = frozenset({"debug", "clear", "profile", "profileEnd", "count", "timeEnd", "endGroup"})


@cache
def _output() -> logging.Handler:
    """The handler of this process. It never waits for its reader."""
    handler = StandardErrorHandler()
    handler.setFormatter(VisibleFormatter("%(message)s"))
    return handler


def write_line(text: str) -> None:
    """Write a line to standard error, with control characters as escapes."""
    _output().handle(logging.LogRecord("mcpframe.server", logging.INFO, "", 0, "%s", (text,), None))


class PageConsole:
    """The console of one page, and of its workers."""

    def __init__(self, write: Callable[[str], None] = write_line, now: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._bucket = TokenBucket(_MOST_AT_ONCE, _PER_SECOND, now)
        self._left_out = 0

    def called(self, params: Mapping[str, Any]) -> None:
        """Write what a call of the console shows (DevTools, Runtime.consoleAPICalled)."""
        if params["type"] in _NEVER_SHOWN:
            return
        for line in " ".join(map(text_of, params["args"])).splitlines():
            if not self._bucket.take():
                self._left_out += 1
                continue
            if self._left_out:
                self._write(f"({self._left_out} lines were left out: the server writes too many.)")
                self._left_out = 0
            self._write(line)
