"""A host in CPython: the official client, a real browser, and the framed server in it."""

import asyncio

from mcp import Client
from playwright.async_api import Page, async_playwright

from mcpframe.hosts import OuterFrame, PlaywrightPlace


async def add(page: Page, url: str) -> str:
    """Call a tool of the server at `url`, framed in a page at an origin that the server allows."""
    async with Client(OuterFrame(url).connect(PlaywrightPlace(page))) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        return result.content[0].text


async def main() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch()
        page = await browser.new_page()
        await page.goto("https://chat.example/")
        print(await add(page, "https://tools.example/adder/"))
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
