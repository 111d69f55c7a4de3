"""Estimates pi by throwing random points at a square: the share that lands in the quarter circle is pi / 4.

Every call adds its points to those of the calls before, until `reset`. The page may stay hidden; if shown, it draws
some of the points while they are thrown, and its buttons throw points and send the estimate to the conversation.
"""

import asyncio
import random
from dataclasses import dataclass, replace
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from mcpframe import FrameServer, FrameSession, errors
from picture import Picture

BATCH = 10_000
DRAWN = 250
"""How many points of a batch are drawn: a million would be one blot."""
SEED = 7
"""Of the random numbers: after a reset, the same points are thrown again."""

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

    @classmethod
    def of(cls, points: Points) -> "Estimate":
        """Estimate pi from points."""
        share = points.inside / points.total
        error = 4 * (share * (1 - share) / points.total) ** 0.5
        return cls(pi=4 * share, standard_error=error, points=points.total)

    @property
    def text(self) -> str:
        """The estimate in words."""
        return f"pi ≈ {self.pi:.6f} ± {self.standard_error:.6f} after {self.points:,} points"


points = Points()
picture = Picture()
source = random.Random(SEED)


@server.ui
async def ui(session: FrameSession) -> None:
    """Draw the points while the page is shown, and do what its buttons say."""
    await picture.open(session)
    page = session.page

    async def send() -> None:
        try:
            await session.host.send_message(Estimate.of(points).text)
            page.element("#note").text = "Sent."
        except errors.HostError as error:  # many hosts have no conversation
            page.element("#note").text = f"Not sent: {error}"

    page.element("#throw").on("click", lambda: add_points(BATCH))
    page.element("#send").on("click", send)
    await picture.run()


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
        add_points(count)
        done += count
        so_far = replace(points)  # a copy: a reset may come during an await
        await ctx.report_progress(done, iterations, f"{done:,} of {iterations:,} points")
        await asyncio.sleep(0)  # let messages in and out: progress, other calls, a cancellation
    estimate = Estimate.of(so_far)
    return CallToolResult(
        content=[TextContent(type="text", text=estimate.text)], structured_content=estimate.model_dump()
    )


@server.tool()
def reset() -> str:
    """Forget all points."""
    forgotten = points.total
    points.inside = points.total = 0
    source.seed(SEED)
    picture.clear()
    return f"Forgot {forgotten:,} points."


def add_points(count: int) -> None:
    """Throw points, and add them to all others and to the picture."""
    inside, some = throw(count)
    points.inside += inside
    points.total += count
    picture.add(some, points.inside, points.total)


def throw(count: int) -> tuple[int, list[tuple[float, float]]]:
    """Throw `count` points; return how many land in the quarter circle, and some points to draw."""
    inside = 0
    some = []
    uniform = source.random
    every = max(1, count // DRAWN)
    for number in range(count):
        x = uniform()
        y = uniform()
        if x * x + y * y <= 1:
            inside += 1
        if number % every == 0:
            some.append((x, y))
    return inside, some
