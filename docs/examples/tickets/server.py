"""A tool that asks its user, in every revision of MCP."""

from mcp.server.mcpserver import Context
from pydantic import BaseModel

from mcpframe import FrameServer

server = FrameServer("tickets")


class Seats(BaseModel):
    """What the user is asked for."""

    count: int
    window: bool = False


@server.tool()
async def book(train: str, ctx: Context) -> str:
    """Book seats on a train."""
    able = ctx.client_capabilities
    if able is None or able.elicitation is None:
        return "Nobody can be asked: book_seats takes the number of seats."
    answer = await ctx.elicit(f"How many seats on {train}?", Seats)
    if answer.action != "accept":
        return f"Nothing is booked: {answer.action}."
    return book_seats(train, answer.data.count)


@server.tool()
def book_seats(train: str, count: int) -> str:
    """Book so many seats on a train."""
    return f"{count} seats on {train} are booked."
