"""A host in Python, in the browser: it sets a server up once, and calls its tool whenever it is opened."""

from mcp import Client

from mcpframe import Page
from mcpframe.hosts import OuterFrame


async def main(page: Page) -> None:
    await page.show("page.html")
    known = await page.storage.get("adder")
    outer = OuterFrame("../adder/", session_id=known["session_id"] if known else None)
    if not known:
        async with outer.setup("#frame") as setup:
            result = await setup.result()
        if result.error_code:
            page.element("#status").text = f"{result.error_code}: {result.error_message}"
            return
        known = {"session_id": outer.session_id, "title": result.title, "visibility": result.visibility}
        await page.storage.set("adder", known)
    page.element("#status").text = known["title"]
    async with Client(outer.connect("#frame", visible=known["visibility"] == "required")) as client:
        answer = await client.call_tool("add", {"a": 1, "b": 2})
        page.element("#answer").text = answer.content[0].text
