import asyncio

from adder import server
from mcp import Client


async def add(a: int, b: int) -> object:
    async with Client(server) as client:  # in memory: no browser, no network
        result = await client.call_tool("add", {"a": a, "b": b})
        return result.structured_content


def test_it_adds():
    assert asyncio.run(add(1, 2)) == {"result": 3}
