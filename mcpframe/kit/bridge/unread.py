"""A limit for messages that a client has not read yet, so that one client cannot use up the bridge's memory."""

from __future__ import annotations

import threading
from typing import Final

MOST_UNREAD: Final = 256 * 1024 * 1024
"""How many bytes may wait for one client. Four messages of the largest size a frame sends by default."""


class Unread:
    """The bytes that wait for one client. Threads may share it.

    Args:
        limit: The maximum.
    """

    def __init__(self, limit: int = MOST_UNREAD) -> None:
        self._limit = limit
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> bool:
        """Count bytes that wait, and return whether the limit allows them; otherwise they are not counted."""
        with self._lock:
            if self._bytes and self._bytes + size > self._limit:  # a single message may always wait
                return False
            self._bytes += size
            return True

    def remove(self, size: int) -> None:
        """Count bytes as read."""
        with self._lock:
            self._bytes -= size
