"""The log of the hub: each registration and call, with tab and domain, without arguments or results."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from mcpframe.kit.base.cache import writing
from mcpframe.kit.base.terminal import VisibleFormatter
from mcpframe.kit.edges.stdio.streams import StandardErrorHandler

_LOGGERS = ("mcpframe.hub", "mcpframe.kit.hub")

_BURST = 50
_PER_SECONDS = 10.0
"""Seconds in which at most `_BURST` complaints of one kind are written: a page can cause thousands a second."""


@contextmanager
def logged_to(handler: logging.Handler) -> Iterator[None]:
    """Send the lines of the log to a handler as well, for the duration of the block, within `hub_log`."""
    handler.addFilter(_Complaints())
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


@contextmanager
def hub_log(file: Path | None = None) -> Iterator[None]:
    """Write the log to standard error, which clients over stdio show or keep, for the duration of the block.

    Args:
        file: A file to append it to as well, with the time; only its owner can read it. None for none.

    Raises:
        WriteError: The file cannot be written.
    """
    handlers: list[logging.Handler] = []
    if file is not None:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
            handlers.append(logging.FileHandler(file, encoding="utf-8", errors="backslashreplace"))
        handlers[0].setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    handlers.append(StandardErrorHandler())
    handlers[-1].setFormatter(_OneMessage("mcpframe hub: %(message)s"))
    for handler in handlers:
        handler.addFilter(_Complaints())
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        for handler in handlers:
            logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
            for handler in handlers:
                logger.removeHandler(handler)
        for handler in handlers:
            handler.close()


class _Complaints(logging.Filter):
    """Drops complaints that come too often. Registrations and calls are always written."""

    def __init__(self) -> None:
        super().__init__()
        self._since = monotonic()
        self._counts: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        if monotonic() - self._since > _PER_SECONDS:
            self._since = monotonic()
            self._counts.clear()
        count = self._counts[record.msg] = self._counts.get(record.msg, 0) + 1
        return count <= _BURST


class _OneMessage(VisibleFormatter):
    """One line for each record, and separate lines for its traceback, if any."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the library's name
        return super().formatMessage(record).replace("\n", "\\n")


class _OneLine(VisibleFormatter):
    """One line for each record, regardless of line breaks from a page."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", "\\n")
