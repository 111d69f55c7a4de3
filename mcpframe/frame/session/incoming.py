"""The read stream of a session: anyio's memory stream without what a session has no use for.

A reader that waits is woken once for each message, and a message costs one future.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import ObjectReceiveStream


class Incoming(ObjectReceiveStream[Any]):
    """Messages for one reader, without a limit."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_ended = False
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of messages that have not been read."""
        return len(self._items)

    def put(self, item: Any) -> bool:
        """Add a message; return False if nobody reads any more."""
        if self._is_ended or self._is_closed:
            return False
        self._items.append(item)
        self._wake()
        return True

    def end(self) -> None:
        """Let the reader come to the end, behind the messages that it has not read."""
        self._is_ended = True
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def receive(self) -> Any:
        """Return the next message.

        Raises:
            anyio.EndOfStream: there are no more.
            anyio.ClosedResourceError: the reader has closed it.
        """
        if self._items:
            await anyio.lowlevel.checkpoint()
        while not self._items:
            if self._is_closed:
                raise anyio.ClosedResourceError
            if self._is_ended:
                raise anyio.EndOfStream
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)
        return self._items.popleft()

    def close(self) -> None:
        """Read no more: messages are lost from now on."""
        self._is_closed = True
        self._items.clear()
        self._wake()

    async def aclose(self) -> None:
        """Like `close`."""
        self.close()
