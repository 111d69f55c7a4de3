"""Untrusted text on a terminal: control characters are shown as escapes, so that the terminal does not obey them."""

from __future__ import annotations

import logging

from mcpframe.frame.core.visible import visible

__all__ = ["VisibleFormatter", "log_visibly", "visible"]


class VisibleFormatter(logging.Formatter):
    """Escapes control characters in log messages."""

    def format(self, record: logging.LogRecord) -> str:
        """Format as usual, then escape: log messages contain text of servers and clients."""
        return visible(super().format(record))


def log_visibly() -> None:
    """Escape control characters in log messages, unless a logging handler is set up."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter())
