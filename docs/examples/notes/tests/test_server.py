"""Outside of a browser the session is in memory: the tools are tested as any Python code is."""

import asyncio

from mcp import Client

from server import server


async def add_and_list(text: str) -> object:
    async with Client(server) as client:
        await client.call_tool("add_note", {"text": text})
        result = await client.call_tool("list_notes")
        return result.structured_content


def test_notes_are_kept():
    assert asyncio.run(add_and_list("Buy milk")) == {"result": ["Buy milk"]}
