"""A tool that takes a while: it reports its progress, and stops when its client cancels the call."""

import asyncio

from mcp.server.mcpserver import Context

from mcpframe import FrameServer

STEP = 2_000

server = FrameServer("primes")
unfinished: list[int] = []


@server.tool()
async def count_primes(below: int, ctx: Context) -> int:
    """Count the primes below a number."""
    found = 0
    try:
        for start in range(0, below, STEP):
            found += sum(is_prime(number) for number in range(start, min(start + STEP, below)))
            await ctx.report_progress(min(start + STEP, below), below, f"{found} primes so far")
            await asyncio.sleep(0)  # the page sends the progress, hears a cancellation, and answers other calls
    except asyncio.CancelledError:
        unfinished.append(below)
        raise  # the call has no answer any more
    return found


@server.tool()
def list_unfinished() -> list[int]:
    """Return the numbers whose count was cancelled."""
    return unfinished


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
