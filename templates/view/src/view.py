"""The view: Python in the host's conversation. It shows what was rolled, and rolls again."""

from collections.abc import Mapping
from typing import Any

from mcpframe import FrameServer, FrameSession, ToolInput, ToolInputPartial, ToolResult

view = FrameServer("view", version="0.1.0")


@view.ui
async def ui(session: FrameSession) -> None:
    """Show each event of the tool call, until the session ends."""
    page, host = session.page, session.host
    await page.show("view.html")
    dice, status, again = (page.element(f"#{name}") for name in ("dice", "status", "again"))
    if host.dialect != "mcp_apps":
        status.text = "This page is a view: a host of MCP Apps shows it for a call of its tool."
        return

    def show(roll: Mapping[str, Any]) -> None:
        dice.clear()
        for eyes in roll["dice"]:
            dice.add("span", class_="die", data_eyes=str(eyes), role="img", aria_label=str(eyes))
        status.text = f"{roll['total']} in total"
        again.hidden = False

    async def roll_again() -> None:
        result = await host.call_tool("roll_dice", {"count": len(dice.elements(".die"))})
        roll = result.structured_content
        show(roll)
        await host.update_model_context(f"The user rolled again: {roll['total']} in total.", roll)

    again.on("click", roll_again)
    async for event in host.tool_events():
        if isinstance(event, ToolInputPartial | ToolInput):
            status.text = f"Rolling {event.arguments.get('count', 2)} dice …"
        elif isinstance(event, ToolResult) and event.structured:
            show(event.structured)
        else:
            status.text = "Nothing was rolled."
