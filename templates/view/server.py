"""An MCP server in plain Python, whose tool has a view: run it with `python server.py`, over stdio."""

import os
import secrets
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

from mcpframe.views import View, Views

PUBLISHED = os.environ.get("VIEW_URL", "https://tools.example/view/")
"""Where the view is published: what `mcpframe build` wrote to `dist/`. Replace it by your own address."""

server = MCPServer("view", version="0.1.0")

# Until the view has drawn, it shows two grey bars, the larger of this height in CSS pixels. `first_paint="<p>…</p>"` is
# HTML of your own in their place: with inline styles, without scripts, of at most 6 KB.
views = Views(server, View(PUBLISHED, uri="ui://dice/rolled", prefers_border=True, height=120))


class Roll(BaseModel):
    """What was rolled."""

    dice: list[int]
    total: int


@views.tool("ui://dice/rolled")
def roll_dice(count: Annotated[int, Field(ge=1, le=12, description="How many dice")] = 2) -> Roll:
    """Roll dice, and show them."""
    dice = [1 + secrets.randbelow(6) for _ in range(count)]
    return Roll(dice=dice, total=sum(dice))


if __name__ == "__main__":
    server.run()
