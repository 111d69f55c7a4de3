"""A dashboard that is an MCP server for the copilot it frames: the inverted architecture, in Python on both sides.

The user acts on the dashboard, and the copilot answers with its tools. The page lists the copilot's calls.
"""

import asyncio
from typing import Any

from framing import Copilot, Standing, read_address, read_dialect
from mcpframe import Page, errors
from server import SOURCES, make_server
from view import View
from workspace import DONE, Area, Workspace

KEY = "workspace"


async def main(page: Page) -> None:
    """Show the dashboard, and serve the copilot while it is open."""
    kept = await page.storage.get(KEY, {})
    await page.show("dashboard.html")
    changes: asyncio.Queue[Area] = asyncio.Queue()
    workspace = Workspace(
        done=kept.get("done", DONE), acknowledged=kept.get("acknowledged", ()), on_change=changes.put_nowait
    )
    view = View(page, workspace)
    copilot: Copilot | None = None

    def note(name: str, arguments: dict[str, Any]) -> None:
        view.note_call(name, arguments)
        if copilot:
            copilot.called()

    server = make_server(workspace, note)

    async def follow() -> None:
        while True:
            area = await changes.get()
            view.show()
            await page.storage.set(
                KEY, {"done": sorted(workspace.done), "acknowledged": sorted(workspace.acknowledged)}
            )
            await server.resource_updated(SOURCES[area])

    following = asyncio.ensure_future(follow())
    try:
        text = (await page.asset_bytes("copilot.json")).decode()
        address = read_address(text, str(page.js.location.origin))
    except errors.OriginError as error:
        view.show_standing(Standing("stopped", str(error)))
        page.element("#copilot-start").hidden = True
        await following
        return
    place = page.element("#copilot-frame")
    copilot = Copilot(address, server, place, view.show_standing, dialect=read_dialect(text))
    page.element("#copilot-start").on("click", copilot.start)
    await asyncio.gather(following, copilot.run())
