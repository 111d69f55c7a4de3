"""Books tables, with a form for it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mcpframe import FrameServer, FrameSession

server = FrameServer("booking")


@server.tool(title="Book a table")
def book(
    name: Annotated[str, Field(description="Who comes.")],
    seats: Annotated[int, Field(ge=1, le=9)] = 2,
    at: datetime | None = None,
    where: Literal["inside", "outside"] = "inside",
    quiet: bool = False,
    wishes: list[str] | None = None,
) -> str:
    """Books a table."""
    if name == "Nobody":
        raise ValueError("Nobody is not welcome.")
    details = [where, *(["quiet"] if quiet else []), *(wishes or []), *([at.isoformat()] if at else [])]
    return f"{seats} for {name} ({', '.join(details)}), by {server.session.host.dialect}"


@server.ui
async def ui(session: FrameSession) -> None:
    """Show the form."""
    await session.page.tool_form("book")
