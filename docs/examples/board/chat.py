"""A host in Python, in the browser: it shows what a tool returns, and answers the page."""

from mcp import Client

from mcpframe.hosts import UiHost


async def show_board(client: Client, place: object) -> None:
    result = await client.call_tool("show_board", {})
    shown = UiHost(result.content[0], client=client, on_intent=plan, auto_resize="height")
    async with shown.show(place) as board:
        await board.closed.wait()


async def plan(intent: str, params: dict[str, list[str]]) -> str:
    return f"{intent} with {len(params['tasks'])} tasks"
