"""Locks for the threads of a page, which are tasks: waiting for a lock lets the other tasks run.

A lock of C would stop the whole page, as its only thread would wait for itself. Everything else in `threading` that
waits (events, conditions, semaphores, futures and queues) waits for one of these.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from mcpframe.frame.compat import stack_switching as waiting


class PageLock:
    """A `threading.Lock`: it has no owner, and any thread may release it."""

    def __init__(self) -> None:
        self._is_locked = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock.

        Args:
            blocking: whether to wait for it.
            timeout: the most seconds to wait; -1 for no limit.

        Returns:
            Whether it was taken.

        Raises:
            RuntimeError: if nothing can release it, as this browser runs no other task meanwhile.
        """
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if not self._is_locked:
            self._is_locked = True
            return True
        if not blocking or timeout == 0:
            return False
        if waiting.can_wait():
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)  # now: others may run before the coroutine does
            return bool(waiting.wait_for(self._wait(turn, timeout)))
        if timeout == -1:
            raise RuntimeError(
                "This would wait for ever: a page has one thread, and nothing else runs while this synchronous code "
                f"waits, as {waiting.why_not()}. Use asyncio's locks, events and queues, and await them."
            )
        time.sleep(timeout)
        return False

    async def _wait(self, turn: asyncio.Future[None], seconds: float) -> bool:
        try:
            await asyncio.wait([turn], timeout=None if seconds == -1 else seconds)
        except BaseException:
            if turn.done():  # cancelled just after `release` has given it the lock
                self.release()
            raise
        finally:
            if not turn.done():
                self._waiting.remove(turn)
        return turn.done()

    def release(self) -> None:
        """Release the lock, to the next waiting thread if there is one."""
        if not self._is_locked:
            raise RuntimeError("release unlocked lock")
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._is_locked = False

    def locked(self) -> bool:
        """Return whether it is taken."""
        return self._is_locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self.__init__()  # type: ignore[misc]
