"""The view that the benchmark starts: it draws the text of the tool's result."""

from mcpframe import FrameServer, FrameSession

server = FrameServer("view", version="0.1.0")


@server.ui
async def ui(session: FrameSession) -> None:
    """Draw the result once it is there."""
    result = await session.host.tool_result()
    session.page.element("#mcpframe-app").add("p", result.content[0]["text"], id="result")
