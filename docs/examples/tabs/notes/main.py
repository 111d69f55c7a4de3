"""A note in each tab of a site. Every tab has the tools of all open ones, and can read their notes."""

from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe import Page
from mcpframe.hub import PageHub


async def main(page: Page) -> None:
    await page.show("page.html")
    server = MCPServer("note")

    @server.tool()
    def read_note() -> str:
        """Return the note in this tab."""
        return page.element("#note").value

    async with PageHub("notes").running() as hub, hub.offering(server), Client(hub.client()) as client:
        while True:
            await page.element("#all").event("click")
            tools = (await client.list_tools()).tools
            results = [await client.call_tool(tool.name, {}) for tool in tools]
            page.element("#notes").text = " | ".join(result.content[0].text for result in results)
