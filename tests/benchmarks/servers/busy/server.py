"""Computes for as long as it is told, in its own thread and in processes."""

import time
import unicodedata
from functools import partial

import anyio
import anyio.to_process

from mcpframe import FrameServer

server = FrameServer("busy", allowed_origins=["*"])


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def name_of(character: str) -> str:
    """Return a character's name, which is in the second file of Python's WebAssembly."""
    return unicodedata.name(character)


@server.tool()
def spin(seconds: float) -> str:
    """Compute for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


def count(steps: int) -> int:
    """Count, which takes a while."""
    found = 0
    for number in range(steps):
        found += number % 3
    return found


@server.tool()
async def twice(steps: int, beside: bool) -> float:
    """Count twice, one after the other or side by side, in processes; return the seconds."""
    await anyio.to_process.run_sync(count, 1)
    began = time.monotonic()
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            if beside:
                tasks.start_soon(anyio.to_process.run_sync, count, steps)
            else:
                await anyio.to_process.run_sync(count, steps)
    return time.monotonic() - began


def memory() -> int:
    """Return the bytes of this Python's WebAssembly memory."""
    import pyodide_js

    return int(pyodide_js._module.HEAPU8.length)


@server.tool()
async def away(steps: int) -> int:
    """Count in a process, until that is done or the call is cancelled."""
    return await anyio.to_process.run_sync(count, steps, cancellable=True)


@server.tool()
async def second() -> list[float]:
    """Start a second process beside one that counts; return the seconds until its answer, and its bytes of memory."""
    await anyio.to_process.run_sync(count, 1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(anyio.to_process.run_sync, count, 1_000_000_000, cancellable=True))
        await anyio.sleep(0.05)
        began = time.monotonic()
        size = await anyio.to_process.run_sync(memory)
        found = [time.monotonic() - began, size]
        tasks.cancel_scope.cancel()
    return found
