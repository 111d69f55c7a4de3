"""Follows the builds of `mcpframe dev` by long polling of the inspector's own origin, and talks to its terminal."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

Fetch = Callable[[str], Awaitable[bytes]]

PAUSE = 2.0
"""Seconds before a retry if there is no answer."""


@dataclass(frozen=True)
class Rebuilt:
    """The state after a build.

    Attributes:
        url: the address of the server's page; empty before there is one.
        is_new: whether the page differs from the one before.
        error: the error in the author's files; empty for none.
        running: the address to request once the page is connected.
        said: the beginning of the address for what the server says.
    """

    url: str
    is_new: bool
    error: str
    running: str
    said: str = ""


class Terminal:
    """The terminal of `mcpframe dev`, which shows what its server says, in order.

    Attributes:
        address: the address that takes it, but for the text; empty while it is not known.
    """

    MOST: Final = 4000
    """Characters in one address, before they are escaped."""

    def __init__(self, fetch: Fetch) -> None:
        self.address = ""
        self._fetch = fetch
        self._waiting: deque[str] = deque(maxlen=1000)
        self._sending = asyncio.Lock()

    async def say(self, text: str) -> None:
        """Show a text."""
        self._waiting.append(text[: self.MOST])
        async with self._sending:
            while self._waiting and self.address:
                text = self._waiting.popleft()
                while self._waiting and len(text) + len(self._waiting[0]) < self.MOST:
                    text += f"\n{self._waiting.popleft()}"
                with suppress(OSError):  # `mcpframe dev` has stopped
                    await self._fetch(f"{self.address}{quote(text, safe='', errors='replace')}")


async def news(fetch: Fetch, find: Callable[[], Awaitable[str]]) -> AsyncIterator[Rebuilt]:
    """Yield the present state, and then the state after every build, for ever; also after a restart.

    Args:
        fetch: fetches an address of the page's origin. Raises OSError.
        find: returns the beginning of the address; see `mcpframe/kit/dev/reload_channel.py`. Called again if there is
            no answer, as each run has another address.
    """
    version, built = 0, 0
    address = await find()
    while True:
        try:
            state = json.loads(await fetch(f"{address}after={version}"))
            now, count = int(state["version"]), int(state["built"])
        except (OSError, ValueError, KeyError, TypeError):  # `mcpframe dev` has stopped, and may be restarted
            await asyncio.sleep(PAUSE)
            before, address = address, await find() or address
            if address != before:
                version = built = 0
            continue
        if now < version:  # `mcpframe dev` was restarted
            version = built = 0
        elif now > version:
            yield Rebuilt(
                state["url"] or "", count != built, state["error"] or "", f"{address}running={count}", f"{address}said="
            )
            version, built = now, count
