"""Requests that wait for answers: their ids, deadlines and progress, and the end of all of them.

A request ends once: it is answered or cancelled (`take`), overdue (`take_overdue`), or its peer is gone (`take_all`).
An answer to a request that has ended, or with an id that never was, finds nothing. Times are passed in, as seconds of
one clock. Its owner keeps a value with each request, such as a callback, a future, or another side's request.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from mcpframe.frame.core.errors import TooManyPending
from mcpframe.frame.core.jsonrpc import RequestId

K = TypeVar("K", bound=RequestId)
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Request(Generic[K, T]):
    """A request that waits.

    Attributes:
        id: its id.
        value: its owner's value.
        deadline: the time at which it is overdue.
        renewal: seconds from its last progress to its deadline; None if progress does not move the deadline.
        last: the time at which it is overdue in spite of progress.
    """

    id: K
    value: T
    deadline: float
    renewal: float | None
    last: float


class Requests(Generic[K, T]):
    """The requests to one peer, in the order in which they were opened."""

    def __init__(self, ids: Iterator[K], limit: int | None = None) -> None:
        """Start without requests.

        Args:
            ids: an endless iterator of ids, each of them once.
            limit: the most that may wait; None if the connection that sends them has a limit.
        """
        self._ids = ids
        self._limit = limit
        self._open: dict[RequestId, Request[K, T]] = {}
        self._times: list[tuple[float, K]] = []
        """A heap with an entry at or before the deadline of each request. Others are dropped when they are first."""

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Request[K, T]]:
        return iter(tuple(self._open.values()))

    @property
    def deadline(self) -> float | None:
        """The earliest deadline; None if there is none."""
        while self._times:
            time, id_ = self._times[0]
            request = self._open.get(id_)
            if request is None:
                heapq.heappop(self._times)
            elif time < request.deadline:  # it has made progress
                heapq.heapreplace(self._times, (request.deadline, id_))
            else:
                return None if time == math.inf else time
        return None

    def open(
        self, value: T, deadline: float | None = None, *, renewal: float | None = None, last: float | None = None
    ) -> Request[K, T]:
        """Open a request, before it is sent.

        Args:
            value: the owner's value for it.
            deadline: the time at which it is overdue; None for never.
            renewal: seconds from its last progress to its deadline; None if progress does not move the deadline.
            last: the time at which it is overdue in spite of progress; None for never.

        Raises:
            TooManyPending: if the limit is reached.
        """
        if self._limit is not None and len(self._open) >= self._limit:
            raise TooManyPending(f"{self._limit:,} requests are already waiting for an answer.")
        last = math.inf if last is None else last
        request = Request(next(self._ids), value, min(math.inf if deadline is None else deadline, last), renewal, last)
        self._open[request.id] = request
        self._add_time(request)
        return request

    def find(self, id_: object) -> Request[K, T] | None:
        """Return the waiting request of an id, which may be any value: `1` is not `True`, and not `"1"`."""
        return self._open.get(id_) if type(id_) is int or isinstance(id_, str) else None

    def take(self, id_: object) -> Request[K, T] | None:
        """End a request that is answered or cancelled, and return it; None if none of this id waits."""
        request = self.find(id_)
        if request is not None:
            del self._open[request.id]
        return request

    def progressed(self, id_: object, now: float) -> Request[K, T] | None:
        """Renew the deadline of a request that has made progress, and return it; None if none of this id waits."""
        request = self.find(id_)
        if request is not None and request.renewal is not None:
            before, request.deadline = request.deadline, min(now + request.renewal, request.last)
            if request.deadline < before:
                self._add_time(request)
        return request

    def take_overdue(self, now: float) -> list[Request[K, T]]:
        """End the requests whose deadline has passed, and return them, the earliest first."""
        ended = []
        while (deadline := self.deadline) is not None and deadline <= now:
            ended.append(self._open.pop(self._times[0][1]))
        return ended

    def take_all(self) -> list[Request[K, T]]:
        """End all requests, and return them."""
        ended = list(self._open.values())
        self._open.clear()
        return ended

    def _add_time(self, request: Request[K, T]) -> None:
        heapq.heappush(self._times, (request.deadline, request.id))
        if len(self._times) > 2 * len(self._open) + 100:  # most are of requests that have ended
            self._times = [(each.deadline, each.id) for each in self._open.values()]
            heapq.heapify(self._times)
