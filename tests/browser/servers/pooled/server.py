"""A server that hands work to processes, in each of the ways that Python has."""

import asyncio
import logging
import time
from concurrent.futures import ProcessPoolExecutor

import anyio
import anyio.to_process
from work import Picky, fail, square, where

from mcpframe import FrameServer, in_process

server = FrameServer("pooled")


@server.tool()
@in_process
def spin(seconds: float = 3600.0) -> str:
    """Compute for a while, in a process."""
    print("computing")
    logging.getLogger("work").warning("this takes %g s", seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


@server.tool()
async def squares(numbers: list[int]) -> list[int]:
    """Return the squares of numbers, each from a process."""
    found = {}

    async def one(number: int) -> None:
        found[number] = await anyio.to_process.run_sync(square, number)

    async with anyio.create_task_group() as tasks:
        for number in numbers:
            tasks.start_soon(one, number)
    return [found[number] for number in numbers]


@server.tool()
async def pool(numbers: list[int]) -> list[int]:
    """Return the squares of numbers, from the processes of a pool."""
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2) as executor:
        return await asyncio.gather(*(loop.run_in_executor(executor, square, number) for number in numbers))


@server.tool()
async def failing() -> str:
    """Raise an exception in a process."""
    return await anyio.to_process.run_sync(fail, "no such thing")


@server.tool()
async def picky() -> str:
    """Return an object from a process that cannot be pickled."""
    return str(await anyio.to_process.run_sync(Picky))


@server.tool()
async def places() -> list[str]:
    """Tell where the server runs, and where its processes do."""
    return [where(), await anyio.to_process.run_sync(where)]
