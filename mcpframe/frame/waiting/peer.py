"""Awaitable requests to a peer: futures and one timer over `core.requests`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from mcpframe.frame.core.requests import K, Requests
from mcpframe.frame.waiting.clock import Alarm, LoopClock, Timers

T = TypeVar("T")

TOO_LATE = "It took too long."
NOT_WANTED = "It is not wanted any more."


class Overdue(TimeoutError):
    """The peer has not answered in time."""


@dataclass(eq=False, slots=True)
class _Awaited(Generic[T]):
    answer: asyncio.Future[T]
    on_progress: Callable[..., object] | None

    def settle(self, outcome: T | Exception) -> None:
        if self.answer.done():  # cancelled in this turn of the loop
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class Peer(Generic[K, T]):
    """The other side of a connection, with awaitable requests to it."""

    def __init__(self, ids: Iterator[K], *, limit: int | None = None, clock: Timers | None = None) -> None:
        """Start without a request.

        Args:
            ids: an endless iterator of ids, each of them once.
            limit: the most requests that may wait; None if the connection that sends them has a limit.
            clock: the clock of the deadlines; by default the event loop's.
        """
        self._requests: Requests[K, _Awaited[T]] = Requests(ids, limit)
        self._given_clock = clock
        self._closed: Callable[[], Exception] | None = None

    def __len__(self) -> int:
        """Return the number of pending requests."""
        return len(self._requests)

    async def ask(
        self,
        send: Callable[[K], object],
        *,
        within: float | None = None,
        longest: float | None = None,
        cancel: Callable[[K, str], object] | None = None,
        on_progress: Callable[..., object] | None = None,
    ) -> T:
        """Send a request, and wait for its answer.

        Args:
            send: sends it with a given id.
            within: seconds to wait; None for no deadline.
            longest: seconds to wait at most if each progress restarts `within`; None if progress does not.
            cancel: cancels the request at the peer, with its id and a reason. Called once it is overdue, and if this
                coroutine is cancelled.
            on_progress: returned by `progressed`.

        Returns:
            The answer.

        Raises:
            TooManyPending: if the limit is reached.
            Overdue: if the peer has not answered in time.
            Exception: an error of `send`, or the one that the request fails with.
        """
        if self._closed is not None:
            raise self._closed()
        self._expire()  # the timers of a page in the background may be late
        now = self._clock.now()
        awaited: _Awaited[T] = _Awaited(asyncio.get_running_loop().create_future(), on_progress)
        request = self._requests.open(
            awaited,
            None if within is None else now + within,
            renewal=None if longest is None else within,
            last=None if longest is None else now + longest,
        )
        self._alarm.set(self._requests.deadline)
        try:
            send(request.id)
            return await awaited.answer
        except (Overdue, asyncio.CancelledError) as error:
            if cancel is not None:
                cancel(request.id, TOO_LATE if isinstance(error, Overdue) else NOT_WANTED)
            raise
        finally:
            self._requests.take(request.id)
            self._alarm.set(self._requests.deadline)

    def answered(self, id_: object, outcome: T | Exception) -> bool:
        """Resolve a request with its answer, or an error. Returns whether a request of this id was pending."""
        request = self._requests.take(id_)
        if request is not None:
            request.value.settle(outcome)
        return request is not None

    def progressed(self, id_: object) -> Callable[..., object] | None:
        """Renew a request's deadline, and return its `on_progress`; None if no request of this id has one."""
        request = self._requests.find(id_)
        if request is None or request.value.on_progress is None:
            return None
        self._requests.progressed(id_, self._clock.now())
        self._alarm.set(self._requests.deadline)
        return request.value.on_progress

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fail all pending requests, each with an error of its own."""
        for request in self._requests.take_all():
            request.value.settle(error())

    def close(self, error: Callable[[], Exception]) -> None:
        """Fail all pending requests, and all later ones."""
        self._closed = error
        self.fail_all(error)

    @cached_property
    def _clock(self) -> Timers:
        return self._given_clock or LoopClock()  # at the first request: a peer may be created before the loop runs

    @cached_property
    def _alarm(self) -> Alarm:
        return Alarm(self._clock, self._expire)

    def _expire(self) -> None:
        for request in self._requests.take_overdue(self._clock.now()):
            request.value.settle(Overdue(TOO_LATE))
        self._alarm.set(self._requests.deadline)
