"""The framed page is the client: it asks the page around it."""

from mcp import Client

from mcpframe import Page, connect_to_host


async def main(page: Page) -> None:
    await page.show("page.html")
    async with Client(connect_to_host()) as client:
        user = await client.call_tool("get_current_user", {})
        page.element("#greeting").text = f"Hello, {user.structured_content['name']}"
        await page.element("#close").event("click")
