"""Follows the builds of `mcpframe dev` by long polling of the inspector's own origin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

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
    """

    url: str
    is_new: bool
    error: str
    running: str


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
            yield Rebuilt(state["url"] or "", count != built, state["error"] or "", f"{address}running={count}")
            version, built = now, count
