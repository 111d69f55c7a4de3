"""Matches the regular expressions of schemas, which are not trusted, by the browser's `RegExp` in a disposable worker.

They are those of ECMA-262 with the flag `u`, as in JSON Schema. `RegExp` backtracks: it takes years for some patterns,
and cannot be interrupted. A worker can be terminated, so each match has a deadline, and so have all matches together.

Checks are synchronous, and a worker is not. `matches` returns cached results, and queues unknown matches; `settle` runs
those. Code that needs certainty checks, settles, and checks again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

__all__ = ["PATTERNS", "BrowserWorker", "Patterns", "Worker"]

MAX_TEXT: Final = 10_000
"""Characters of a pattern or a text; longer ones are left to the server."""
MAX_KNOWN: Final = 5000
"""The number of cached results."""
MATCH_SECONDS: Final = 0.2
"""Seconds for one match."""
SETTLE_SECONDS: Final = 1.0
"""Seconds for all matches of one `settle`, excluding starts of workers."""
START_SECONDS: Final = 10.0

SCRIPT: Final = """\
onmessage = ({ data }) => {
  const [pattern, text] = JSON.parse(data);
  let found = null;
  try {
    found = new RegExp(pattern, "u").test(text);
  } catch {
    // not a pattern
  }
  postMessage(JSON.stringify(found));
};
postMessage("ready");
"""

Pair = tuple[str, str]


class Worker(Protocol):
    def post(self, text: str) -> None:
        """Send it a message."""

    async def next(self) -> str:
        """Return its next message."""

    def end(self) -> None:
        """Terminate it, even while it runs."""


class BrowserWorker:
    """A Web Worker of the inspector's page, which runs `SCRIPT`."""

    def __init__(self, page: Any) -> None:
        window = page.js.defaultView
        url = window.URL.createObjectURL(window.Blob.new(window.Array.of(SCRIPT)))
        self._worker = window.Worker.new(url)
        self._messages: asyncio.Queue[str] = asyncio.Queue()
        self._stop = page.listen(self._worker, "message", lambda event: self._messages.put_nowait(str(event.data)))
        window.URL.revokeObjectURL(url)

    def post(self, text: str) -> None:
        """Send it a message."""
        self._worker.postMessage(text)

    async def next(self) -> str:
        """Return its next message."""
        return await self._messages.get()

    def end(self) -> None:
        """Terminate it."""
        self._worker.terminate()
        self._stop()


class Patterns:
    """Cached results of matches, and the worker that produces them.

    Attributes:
        start: Starts a worker; None without workers: then nothing is matched.
    """

    def __init__(self, start: Callable[[], Worker] | None = None) -> None:
        self.start = start
        self._known: dict[Pair, bool | None] = {}
        self._late: set[str] = set()
        self._open: dict[Pair, None] = {}
        self._worker: Worker | None = None
        self._busy = asyncio.Lock()

    @property
    def is_settled(self) -> bool:
        """Whether no matches are queued."""
        return not self._open

    def matches(self, pattern: str, text: str) -> bool | None:
        """Return whether a pattern is found in a text.

        Returns:
            None if the result is not known yet, was not determined in time, or if the pattern is invalid.
        """
        pair = pattern, text
        if pair in self._known:
            return self._known[pair]
        small = len(pattern) <= MAX_TEXT and len(text) <= MAX_TEXT
        if self.start and small and pattern not in self._late and len(self._open) < MAX_KNOWN:
            self._open[pair] = None
        return None

    def is_late(self, pattern: str) -> bool:
        """Return whether a match of this pattern was not completed in time. It is not retried."""
        return pattern in self._late

    async def settle(self) -> bool:
        """Run the queued matches, as far as the time allows; return whether there were any."""
        if not self._open:
            return False
        async with self._busy:
            pairs, self._open = list(self._open), {}
            deadline: float | None = None
            for pattern, text in pairs:
                worker = await self._ready()
                now = time.monotonic()
                deadline = deadline or now + SETTLE_SECONDS
                left = min(MATCH_SECONDS, deadline - now)
                if worker is None or left <= 0 or pattern in self._late:
                    self._late.add(pattern)
                    continue
                found = await self._ask(worker, json.dumps([pattern, text]), left)
                if found is None:
                    self._late.add(pattern)
                    continue
                if len(self._known) >= MAX_KNOWN:
                    del self._known[next(iter(self._known))]
                self._known[pattern, text] = json.loads(found)
        return True

    async def _ready(self) -> Worker | None:
        if self._worker is None and self.start is not None:
            worker = self._worker = self.start()
            if await self._ask(worker, None, START_SECONDS) is None:
                self.start = None  # workers do not start here
        return self._worker

    async def _ask(self, worker: Worker, text: str | None, seconds: float) -> str | None:
        """Return the worker's next message; None after terminating it at the deadline."""
        answer = None
        try:
            if text is not None:
                worker.post(text)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    answer = await worker.next()
        finally:
            if answer is None:
                worker.end()
                self._worker = None
        return answer


PATTERNS: Final = Patterns()
"""The results of the inspector's page; `main` sets `start`."""
