"""Estimates pi by throwing random points at a square: the share that lands in the quarter circle is pi / 4.

Every call adds its points to those of the calls before, until `reset`.
"""

import asyncio
import random
from dataclasses import dataclass
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from mcpframe import FrameServer

BATCH = 10_000

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


@server.tool()
async def calculate_pi(
    iterations: Annotated[int, Field(ge=1000, le=1_000_000, description="How many points to throw")],
    ctx: Context,
) -> Annotated[CallToolResult, Estimate]:
    """Throw random points and estimate pi from all points so far."""
    done = 0
    while done < iterations:
        count = min(BATCH, iterations - done)
        points.inside += throw(count)
        points.total += count
        done += count
        await ctx.report_progress(done, iterations, f"{done:,} of {iterations:,} points")
        await asyncio.sleep(0)  # let messages in and out: progress, other calls, a cancellation
    share = points.inside / points.total
    estimate = Estimate(
        pi=4 * share,
        standard_error=4 * (share * (1 - share) / points.total) ** 0.5,
        points=points.total,
    )
    text = f"pi ≈ {estimate.pi:.6f} ± {estimate.standard_error:.6f} after {estimate.points:,} points"
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=estimate.model_dump())


@server.tool()
def reset() -> str:
    """Forget all points."""
    forgotten = points.total
    points.inside = points.total = 0
    return f"Forgot {forgotten:,} points."


def throw(count: int) -> int:
    """Throw `count` points and count those that land in the quarter circle."""
    inside = 0
    uniform = random.random
    for _ in range(count):
        x = uniform()
        y = uniform()
        if x * x + y * y <= 1:
            inside += 1
    return inside
