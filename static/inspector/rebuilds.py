"""Following the builds of `mcpframe dev`: an answer of the inspector's own origin that waits until there is news."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

Fetch = Callable[[str], Awaitable[bytes]]

PAUSE = 2.0
"""Seconds to wait before asking again where nobody answers."""


@dataclass(frozen=True)
class Rebuilt:
    """What is new.

    Attributes:
        url: the address of the server's page; empty before there is one.
        is_new: whether that page is another one than before.
        error: what is wrong with the author's files; empty where nothing is.
        running: where to tell that the page is connected.
    """

    url: str
    is_new: bool
    error: str
    running: str


async def news(fetch: Fetch, find: Callable[[], Awaitable[str]]) -> AsyncIterator[Rebuilt]:
    """Yield every piece of news, for ever; what there is at the beginning, and after a restart, is news as well.

    Args:
        fetch: gets an address of the page's origin. Raises OSError.
        find: finds where the answer is, up to the rest of its query; see `mcpframe/kit/dev/reload_channel.py`. Asked
            again where nobody answers there, as another run has another address.
    """
    version, built = 0, 0
    address = await find()
    while True:
        try:
            state = json.loads(await fetch(f"{address}after={version}"))
            now, count = int(state["version"]), int(state["built"])
        except (OSError, ValueError, KeyError, TypeError):  # it has stopped, and may be started again
            await asyncio.sleep(PAUSE)
            before, address = address, await find() or address
            if address != before:
                version = built = 0
            continue
        if now < version:  # it was started again
            version = built = 0
        elif now > version:
            yield Rebuilt(state["url"] or "", count != built, state["error"] or "", f"{address}running={count}")
            version, built = now, count
