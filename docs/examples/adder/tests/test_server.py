import pytest
from mcp import Client

from server import server


@pytest.mark.anyio
async def test_it_adds():
    async with Client(server) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
    assert result.structured_content == {"result": 3}


@pytest.fixture
def anyio_backend():
    return "asyncio"
