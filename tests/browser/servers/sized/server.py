"""A view in each of the layouts that authors write: a call's arguments name one."""

from mcpframe import FrameServer, FrameSession

server = FrameServer("sized", version="1.0")


@server.ui
async def ui(session: FrameSession) -> None:
    """Draw a layout of `style.css`."""
    page = session.page
    layout = (await session.host.tool_input()).arguments["layout"]
    page.js.documentElement.dataset.layout = layout
    await page.show("view.html")
