"""Ends a framed page that has more memory than it may: its scripts' and Python's, with those of its workers.

Python's memory is one of WebAssembly, whose size DevTools do not have: the page reports it (`static/page/loader.js`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from mcpframe.kit.base.errors import BrowserGone, PageFailed
from mcpframe.kit.browser.devtools.protocol import DevTools

_MEGABYTE = 1_000_000

_INTERVAL = 5.0
"""Seconds between two measurements."""

_OF_SCRIPTS = ("usedSize", "embedderHeapUsedSize", "backingStorageSize")
_OF_PYTHON = "globalThis.mcpframeMemory?.()"


class PageMemory:
    """The memory of one page.

    Args:
        devtools: its browser's.
        sessions: returns the sessions of the framed page and its workers.
    """

    def __init__(self, devtools: DevTools, sessions: Callable[[], Sequence[str]]) -> None:
        self._devtools = devtools
        self._sessions = sessions
        self._has_python = False
        self._task: asyncio.Task[None] | asyncio.Task[int] | None = None

    async def limit(self, megabytes: int, patience: float, ended: Callable[[str], None]) -> None:
        """Measure it now and from time to time; call `ended` once, with the reason, when it is above a limit.

        Args:
            patience: how long the first measurement may take, in seconds.

        Raises:
            PageFailed: it is above the limit already, as that of a next page would be; or it cannot be measured.
        """
        self._task = measuring = asyncio.get_running_loop().create_task(self._used())
        try:
            done, _ = await asyncio.wait([measuring], timeout=patience)
        finally:
            measuring.cancel()
        if not done:
            raise PageFailed("The server computes at its start: the memory of its page cannot be measured.")
        if measuring.cancelled():
            return  # the page has ended, and said why
        if not self._has_python:
            raise PageFailed(
                "The server's page does not report its memory: build it with this version of mcpframe, or leave out "
                "--page-memory."
            )
        if measuring.result() > megabytes * _MEGABYTE:
            raise PageFailed(
                f"The server's page has {_shown(measuring.result())} at its start: give more with --page-memory."
            )
        self._task = asyncio.get_running_loop().create_task(self._watch(megabytes, ended))

    def stop(self) -> None:
        """Measure no more."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self, megabytes: int, ended: Callable[[str], None]) -> None:
        used = 0
        while used <= megabytes * _MEGABYTE:
            await asyncio.sleep(_INTERVAL)
            used = await self._used()
        ended(f"The server's page has {_shown(used)} of memory, more than {megabytes} MB, and was ended.")

    async def _used(self) -> int:
        """Return its bytes. A page that computes answers afterwards, so there is no deadline."""
        return sum(await asyncio.gather(*map(self._used_in, self._sessions())))

    async def _used_in(self, session: str) -> int:
        with suppress(BrowserGone):  # a worker that has ended
            heap = await self._devtools.post("Runtime.getHeapUsage", session)
            answer = await self._devtools.post("Runtime.evaluate", session, expression=_OF_PYTHON, returnByValue=True)
            of_scripts = sum(int(heap.get(part, 0)) for part in _OF_SCRIPTS)
            match answer["result"].get("value"):
                case int(of_python):
                    self._has_python = True
                    return of_scripts + of_python
            return of_scripts  # of a worker without Python, or before it starts
        return 0


def _shown(size: int) -> str:
    return f"{-(-size // _MEGABYTE)} MB"
