"""Runs a web server until it is cancelled, and work beside it: signals are left to the command."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

import uvicorn

from mcpframe.kit.web.serve import ClosingServer


async def run_until_cancelled(
    config: uvicorn.Config, listener: socket.socket, ending: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run uvicorn on a socket until cancelled. Requests that are open after `ending` are closed."""
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await asyncio.shield(serving)
    finally:
        try:
            if ending is not None:
                await ending()
        finally:
            server.should_exit = True
            await asyncio.wait([serving])


@contextlib.asynccontextmanager
async def alongside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run work beside the block, which is cancelled if the work fails.

    Raises:
        Exception: The first error of the work or the block.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(work)
            yield
            task.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


class _Server(ClosingServer):
    """A uvicorn server that leaves signals to the bridge."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield
