"""A host of MCP Apps in Python: it calls a tool of a framed server, and shows the tool's view."""

from mcp import Client

from mcpframe import Page
from mcpframe.hosts import AppHost, OuterFrame


async def main(page: Page) -> None:
    await page.show("page.html")
    status = page.element("#status")

    def add_message(blocks) -> bool:
        status.text = f"You: {blocks[0]['text']}"
        return True

    server = OuterFrame("../clock/").connect("#server")
    async with Client(server, extensions=[AppHost.extension()]) as client:
        app = AppHost(client, "now", on_message=add_message, context={"theme": "light", "locale": "en"})
        async with app.show("#view") as view:
            result = await view.call({"city": "Vienna"})
            page.element("#text").text = result.content[0].text
            await page.element("#close").event("click")
    status.text = "Closed"
