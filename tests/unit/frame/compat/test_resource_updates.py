"""Changed resources are announced to clients of both protocol eras, outside of any request too."""

import warnings

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceUpdatedNotification

from mcpframe.frame.server import FrameServer, equip

SKY, SEA = "city://oslo/sky", "city://oslo/sea"

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> FrameServer:
    server: FrameServer = FrameServer("weather")

    @server.resource(SKY)
    def sky() -> str:
        return "blue"

    equip(server)
    return server


class Heard:
    """The updates that a client of the handshake era has heard of."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._changed = anyio.Event()

    async def __call__(self, message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)
            self._changed.set()

    async def next(self) -> str:
        with anyio.fail_after(5):
            while not self.uris:
                self._changed = anyio.Event()
                await self._changed.wait()
        return self.uris.pop(0)


async def test_to_a_client_that_subscribed(server: FrameServer) -> None:
    heard = Heard()
    async with Client(server, mode="legacy", message_handler=heard) as client:
        resources = client.server_capabilities.resources
        assert resources
        assert resources.subscribe
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await server.resource_updated(SKY)  # nobody has subscribed yet
            await client.subscribe_resource(SKY)
            await client.subscribe_resource(SEA)
            await server.resource_updated(SEA)
            assert await heard.next() == SEA
            await client.unsubscribe_resource(SEA)
        await server.resource_updated(SEA)
        await server.resource_updated(SKY)
        assert await heard.next() == SKY
        assert heard.uris == []


async def test_a_closed_connection_is_told_nothing(server: FrameServer) -> None:
    heard = Heard()
    async with Client(server, mode="legacy", message_handler=heard) as client:
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await client.subscribe_resource(SKY)
    await server.resource_updated(SKY)
    assert heard.uris == []


async def test_to_a_client_that_listens(server: FrameServer) -> None:
    async with Client(server, mode="2026-07-28") as client, client.listen(resource_subscriptions=[SKY]) as events:
        await server.resource_updated(SEA)
        await server.resource_updated(SKY)
        with anyio.fail_after(5):
            assert await anext(aiter(events)) == ResourceUpdated(uri=SKY)
