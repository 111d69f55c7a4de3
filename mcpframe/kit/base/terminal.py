"""Text on a terminal: control characters, and those that its encoding lacks, are shown as escapes."""

from __future__ import annotations

import io
import logging
import sys

from mcpframe.frame.core.visible import visible

__all__ = ["VisibleFormatter", "log_visibly", "print_any_text", "visible"]

_DRIVER_ENDED = "Connection closed while reading from the driver"
"""Playwright raises a plain `Exception` with this text."""


class VisibleFormatter(logging.Formatter):
    """Escapes control characters in log messages."""

    def format(self, record: logging.LogRecord) -> str:
        """Format as usual, then escape: log messages contain text of servers and clients."""
        return visible(super().format(record))


def log_visibly() -> None:
    """Escape control characters in log messages, unless a logging handler is set up.

    What asyncio says about a browser's pending answers, which nobody waits for once Ctrl-C has ended it, is dropped.
    """
    logging.getLogger("asyncio").addFilter(_is_of_use)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter())


def _is_of_use(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    is_browsers = type(error).__module__.startswith("playwright.") or str(error) == _DRIVER_ENDED
    return not (is_browsers and "never retrieved" in record.getMessage())


def print_any_text() -> None:
    """Escape characters that the encoding of the standard streams lacks: on Windows, that of a pipe is often cp1252.

    By default they raise `UnicodeEncodeError`.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
