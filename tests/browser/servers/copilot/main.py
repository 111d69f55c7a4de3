"""The client of an inverted architecture: it greets with the tool of the server around it, until the session ends."""

from mcp import Client

from mcpframe import Page, connect_to_host


async def main(page: Page) -> None:
    async with Client(connect_to_host()) as client:
        result = await client.call_tool("greet", {"name": "the copilot"})
        await client.call_tool("done", {"answer": result.content[0].text})  # type: ignore[union-attr]
