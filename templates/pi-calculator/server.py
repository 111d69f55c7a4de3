"""Estimates pi by throwing random points at a square: the share that lands in the quarter circle is pi / 4.

Every call adds its points to those of the calls before, until `reset`. The page may stay hidden; if shown, it draws
some of the points while they are thrown.
"""

import asyncio
import random
from dataclasses import dataclass, replace
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from mcpframe import FrameServer, FrameSession
from picture import Picture

BATCH = 10_000
DRAWN = 250
"""How many points of a batch are drawn: a million would be one blot."""

server = FrameServer("pi-calculator", title="Pi calculator", version="0.1.0")


@dataclass
class Points:
    """All points thrown since the last reset, and how many of them landed in the circle."""

    inside: int = 0
    total: int = 0


class Estimate(BaseModel):
    """What the points say so far."""

    pi: float = Field(description="The estimate")
    standard_error: float = Field(description="How far off it typically is with so many points")
    points: int = Field(description="Points thrown since the last reset")


points = Points()
picture = Picture()


@server.ui
async def ui(session: FrameSession) -> None:
    """Draw the points while the page is shown."""
    await picture.run(session)


@server.tool()
async def calculate_pi(
    iterations: Annotated[int, Field(ge=1000, le=1_000_000, description="How many points to throw")],
    ctx: Context,
) -> Annotated[CallToolResult, Estimate]:
    """Throw random points and estimate pi from all points so far."""
    done = 0
    so_far = points
    while done < iterations:
        count = min(BATCH, iterations - done)
        inside, some = throw(count)
        points.inside += inside
        points.total += count
        done += count
        so_far = replace(points)  # a copy: a reset may come during an await
        picture.add(some, points.inside, points.total)
        await ctx.report_progress(done, iterations, f"{done:,} of {iterations:,} points")
        await asyncio.sleep(0)  # let messages in and out: progress, other calls, a cancellation
    share = so_far.inside / so_far.total
    estimate = Estimate(
        pi=4 * share,
        standard_error=4 * (share * (1 - share) / so_far.total) ** 0.5,
        points=so_far.total,
    )
    text = f"pi ≈ {estimate.pi:.6f} ± {estimate.standard_error:.6f} after {estimate.points:,} points"
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=estimate.model_dump())


@server.tool()
def reset() -> str:
    """Forget all points."""
    forgotten = points.total
    points.inside = points.total = 0
    picture.clear()
    return f"Forgot {forgotten:,} points."


def throw(count: int) -> tuple[int, list[tuple[float, float]]]:
    """Throw `count` points; return how many land in the quarter circle, and some points to draw."""
    inside = 0
    some = []
    uniform = random.random
    every = max(1, count // DRAWN)
    for number in range(count):
        x = uniform()
        y = uniform()
        if x * x + y * y <= 1:
            inside += 1
        if number % every == 0:
            some.append((x, y))
    return inside, some
