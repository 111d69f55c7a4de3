"""Calls that wait for an answer: ids, deadlines, and who may answer.

An id is a UUID, and belongs to one tab: an answer of another tab, a second one, or one that comes too late is ignored.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.errors import RequestTimedOut, TabBusy, TabClosed, TabFailed
from mcpframe.hub.core.interfaces import OnProgress
from mcpframe.hub.core.messages import ToolAnswer, ToolProgress

STALE_SECONDS = 30.0
"""Seconds without a sign of life after which a request is forgotten, whoever may still wait for it."""

LONGEST_SECONDS = 600.0
"""Seconds after which a call ends, even if its page goes on to report progress."""

MAX_PENDING = 256
"""How many calls of one tab may wait for their answers."""


@dataclass(eq=False)
class TabRequest:
    """One call that waits.

    Attributes:
        id: Its id.
        tab: The tab that may answer it.
        begun: When it was sent.
        seen: When it was sent, or its last progress came.
        timeout: Seconds after `seen` at which it fails.
        on_progress: Called with its progress.
        outcome: Its answer, or why there is none.
    """

    id: str
    tab: int
    begun: float
    seen: float
    timeout: float
    on_progress: OnProgress | None
    outcome: asyncio.Future[ToolAnswer | TabFailed]
    stop_timer: Callable[[], None] = field(default=lambda: None)


class RequestManager:
    """The calls that wait, of all tabs.

    Args:
        clock: The time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._requests: dict[str, TabRequest] = {}

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._requests)

    def begin(self, tab: int, timeout: float, on_progress: OnProgress | None = None) -> TabRequest:
        """Note a new call, before it is sent.

        Args:
            tab: The tab that may answer.
            timeout: Seconds until it fails.
            on_progress: Called with its progress.

        Raises:
            TabBusy: Too many calls of this tab wait.
        """
        self.purge()
        if sum(each.tab == tab for each in self._requests.values()) >= MAX_PENDING:
            raise TabBusy(f"{MAX_PENDING} calls of this tab wait for their answers: try again later.", tab=tab)
        now = self._clock.now()
        outcome: asyncio.Future[ToolAnswer | TabFailed] = asyncio.get_running_loop().create_future()
        request = TabRequest(str(uuid.uuid4()), tab, now, now, timeout, on_progress, outcome)
        self._requests[request.id] = request
        self._set_timer(request)
        return request

    def end(self, request: TabRequest) -> None:
        """Forget a call: nobody waits for it."""
        request.stop_timer()
        self._requests.pop(request.id, None)

    def answered(self, tab: int, answer: ToolAnswer) -> bool:
        """Take an answer.

        Args:
            tab: The tab that it came from.
            answer: The answer.

        Returns:
            Whether a call of this tab waited for it.
        """
        request = self._of(tab, answer.id)
        return request is not None and self._settle(request, answer)

    def progressed(self, tab: int, progress: ToolProgress) -> bool:
        """Take the progress of a call, which begins its time anew. As `answered` otherwise."""
        request = self._of(tab, progress.id)
        if request is None or request.on_progress is None:
            return False
        request.seen = self._clock.now()
        self._set_timer(request)
        request.on_progress(progress)
        return True

    def gone(self, tab: int) -> None:
        """Have all calls of a tab fail: it has ended."""
        for request in [each for each in self._requests.values() if each.tab == tab]:
            self._settle(request, TabClosed("The tab ended before it answered.", tab=tab))

    def purge(self) -> None:
        """Forget calls without a sign of life for `STALE_SECONDS`."""
        now = self._clock.now()
        for request in list(self._requests.values()):
            if now - request.seen > max(STALE_SECONDS, request.timeout):
                self._expire(request)

    def _of(self, tab: int, id_: str) -> TabRequest | None:
        request = self._requests.get(id_)
        return request if request is not None and request.tab == tab else None

    def _set_timer(self, request: TabRequest) -> None:
        request.stop_timer()
        last = request.begun + max(LONGEST_SECONDS, request.timeout)
        seconds = min(request.timeout, last - self._clock.now())
        request.stop_timer = self._clock.call_later(max(0.0, seconds), lambda: self._expire(request))

    def _expire(self, request: TabRequest) -> None:
        passed = self._clock.now() - request.begun
        self._settle(request, RequestTimedOut(f"The tab did not answer within {passed:.0f} s.", tab=request.tab))

    def _settle(self, request: TabRequest, outcome: ToolAnswer | TabFailed) -> bool:
        self.end(request)
        if request.outcome.done():
            return False
        request.outcome.set_result(outcome)
        return True
