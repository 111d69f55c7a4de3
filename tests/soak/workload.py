"""A soak from its first call to the count of what is left."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2

from mcpframe.kit.edges.http import sessions as http_sessions
from tests.soak.clients import PATIENCE, Soaker, text_of
from tests.soak.stdio import StdioSoaker
from tests.soak.tally import Failures, Tally
from tests.support.bridged import HttpBridge

WORKERS = {"modern": 3, "legacy": 1, "stateless": 2, "sessions": 1, "stdio": 1}
"""How many clients of each kind are at work at once."""

_BURST = 40
"""How many calls an official client makes before another one takes its place."""

_IDLE_SECONDS = 3.0
"""How long a session is kept without a request here: for clients that leave without ending it."""


@dataclass(frozen=True)
class Bounds:
    """The limits of a soak.

    Attributes:
        calls: how many calls are made.
        seconds: how long it may take; then it ends with the calls made so far.
    """

    calls: int
    seconds: float


async def soak(
    bridge: HttpBridge,
    stdio: Sequence[str],
    folder: Path,
    bounds: Bounds,
    seed: int,
    tell: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Make calls of every kind, wait until all clients have left, and count what is left behind.

    Args:
        bridge: a bridge over HTTP in this process.
        stdio: the command of a bridge over stdio.
        folder: for its output.
        bounds: when to end.
        seed: the seed of the random choices.
        tell: called now and then with the counts so far.
    """
    tally = Tally()
    failures = Failures(tally)
    idle, http_sessions.IDLE_SECONDS = http_sessions.IDLE_SECONDS, _IDLE_SECONDS
    try:
        with failures.installed():
            soaker = Soaker(bridge.url, tally, random.Random(seed))
            await _warm_up(soaker)
            before = asyncio.all_tasks()
            await _work(soaker, stdio, folder, bounds, tell)
            await _count_what_is_left(bridge, soaker, before)
    finally:
        http_sessions.IDLE_SECONDS = idle
    return tally


async def _warm_up(soaker: Soaker) -> None:
    """Create what is created once and kept: the shared frame, and the watcher of all event streams."""
    async with soaker.client(soaker.url, "2026-07-28") as client:
        await client.call_tool("echo", {"text": "first"})
    async with soaker.client(soaker.url, "legacy") as client:
        await client.call_tool("echo", {"text": "first"})


async def _work(
    soaker: Soaker, stdio: Sequence[str], folder: Path, bounds: Bounds, tell: Callable[[Tally], None]
) -> None:
    until = asyncio.get_running_loop().time() + bounds.seconds
    tally = soaker.tally

    def goes_on() -> bool:
        return tally.calls < bounds.calls and asyncio.get_running_loop().time() < until

    async def modern() -> None:
        async with soaker.client(soaker.url, "2026-07-28") as client:
            await _burst(lambda: soaker.call(client, "modern"), goes_on)

    async def legacy() -> None:
        async with soaker.client(soaker.url, "legacy") as client:
            await _burst(lambda: soaker.call(client, "legacy"), goes_on)

    async def stateless() -> None:
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            await _burst(lambda: soaker.stateless(http), goes_on)

    async def sessions() -> None:
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            await soaker.session(http, 10)

    async def again(act: Callable[[], Awaitable[None]]) -> None:
        while goes_on():
            await act()

    errors = folder / "stdio.txt"
    async with asyncio.TaskGroup() as tasks:
        for kind, act in (("modern", modern), ("legacy", legacy), ("stateless", stateless), ("sessions", sessions)):
            for _ in range(WORKERS[kind]):
                tasks.create_task(again(act))
        for _ in range(WORKERS["stdio"]):
            client = await StdioSoaker.start(stdio, tally, soaker.chance, errors)
            tasks.create_task(_until_the_end(client, errors, again))
        telling = asyncio.create_task(_tell(tally, tell, goes_on))
    await telling


async def _until_the_end(
    client: StdioSoaker, errors: Path, again: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
) -> None:
    await again(client.call)
    await client.end(errors)


async def _burst(act: Callable[[], Awaitable[None]], goes_on: Callable[[], bool]) -> None:
    for _ in range(_BURST):
        if goes_on():
            await act()


async def _tell(tally: Tally, tell: Callable[[Tally], None], goes_on: Callable[[], bool]) -> None:
    while goes_on():
        tell(tally)
        await asyncio.sleep(1)


async def _count_what_is_left(bridge: HttpBridge, soaker: Soaker, before: set[asyncio.Task[object]]) -> None:
    """Count once all is idle, or at the deadline."""
    left = soaker.tally.left
    running: set[str] = set()

    def extra() -> set[asyncio.Task[object]]:
        return {task for task in asyncio.all_tasks() - before if not task.done()}

    try:
        async with asyncio.timeout(PATIENCE):
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(soaker.client(soaker.url, "2026-07-28"))
                waits = {name for name in soaker.started if name.startswith("modern")}
                while running := waits - set(await _cancelled(client)):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            while bridge.sessions.count or bridge.requests.pending or extra():
                gc.collect()
                await asyncio.sleep(0.1)
    except TimeoutError:
        pass
    left["calls at work in the shared frame"] = len(running)
    left["sessions"] = bridge.sessions.count
    left["requests over HTTP"] = bridge.requests.pending
    link = bridge.requests.link
    left["requests in the shared frame"] = link.pending if link else 0
    left["tasks"] = len(extra())
    soaker.tally.failures.extend(f"a task is left: {task!r}" for task in extra())


async def _cancelled(client: object) -> list[str]:
    result = await client.call_tool("cancelled_waits")  # type: ignore[attr-defined]
    answer = result.model_dump(by_alias=True)
    return list(answer["structuredContent"]["result"]) if answer.get("structuredContent") else [text_of(answer)]
