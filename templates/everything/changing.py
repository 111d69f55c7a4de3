"""Lists that change while a client is connected: each call adds an item, and sends a notification."""

import itertools

from mcp.server.mcpserver import Context, UserMessage

from mcpframe import FrameServer

LATEST_WITH_SESSIONS = "2025-11-25"
"""Up to this revision clients are notified without a subscription; with later ones they subscribe."""


def register(server: FrameServer) -> None:
    """Add the tools."""
    numbers = itertools.count(1)

    async def test_trigger_tool_change(ctx: Context) -> str:
        """Add a tool."""
        name = f"added_tool_{next(numbers)}"
        server.add_tool(lambda: name, name=name, description="Added while the server runs.")
        await ctx.notify_tools_changed()
        if (ctx.protocol_version or "") <= LATEST_WITH_SESSIONS:
            await ctx.session.send_tool_list_changed()
        return f"Added the tool {name}."

    async def test_trigger_prompt_change(ctx: Context) -> str:
        """Add a prompt."""
        name = f"added_prompt_{next(numbers)}"
        server.prompt(name=name, description="Added while the server runs.")(lambda: [UserMessage(name)])
        await ctx.notify_prompts_changed()
        if (ctx.protocol_version or "") <= LATEST_WITH_SESSIONS:
            await ctx.session.send_prompt_list_changed()
        return f"Added the prompt {name}."

    server.add_tool(test_trigger_tool_change)
    server.add_tool(test_trigger_prompt_change)
