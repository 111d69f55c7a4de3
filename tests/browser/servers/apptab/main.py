"""A tab of an app: it offers tools, and does what a test asks for with those of all tabs."""

import asyncio
import json
import time
from typing import Any

import js
import mcp
from mcp.shared.exceptions import MCPError
from pyodide.ffi import create_proxy

from mcpframe import FrameServer, Kept, Page, kept
from mcpframe.hub.core import limits
from mcpframe.hub.homes.page.page_hub import PageHub

server = FrameServer("a tab's", allowed_origins=["*"])


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def wait() -> str:
    """Waits for ever."""
    js.document.documentElement.dataset.waiting = "yes"
    try:
        await asyncio.Event().wait()
    finally:
        js.document.documentElement.dataset.waiting = "cancelled"
    return ""


def squares() -> Kept[list[list[int]]]:
    """Keeps rows."""
    return kept([[number, number**2] for number in range(2500)])


def total(rows: Kept[list[list[int]]]) -> int:
    """Adds up the first column."""
    return sum(number for number, _ in rows.value)


class Driver:
    """What a test calls."""

    def __init__(self, hub: PageHub, client: mcp.Client) -> None:
        self._hub = hub
        self._client = client

    def leads(self) -> bool:
        """Return whether this tab has the hub."""
        return self._hub.is_leading

    def hurry(self) -> None:
        """Take a hub that does not respond for one that hangs sooner."""
        limits.PING_SECONDS = 0.4

    async def tools(self, count: int) -> str:
        """Wait until there are so many tools, and return their names."""
        while len(names := await self._names()) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return json.dumps([name.partition("_tab")[2] for name in names])

    async def _names(self) -> list[str]:
        return sorted(tool.name for tool in (await self._client.list_tools()).tools)

    async def call(self, name: str, arguments: str = "{}") -> str:
        """Call a tool; return its text, or the data of the error."""
        [full] = [tool.name for tool in (await self._client.list_tools()).tools if tool.name.endswith(f"_tab{name}")]
        try:
            result = await self._client.call_tool(full, json.loads(arguments))
        except MCPError as error:
            return json.dumps(error.error.data)
        return str(result.content[0].text)

    async def keep(self) -> str:
        """Have the hub call tools of this tab that keep rows, and read these by pages; return what came of it."""
        for tool in (squares, total):
            server.add_tool(tool)
        await server.tools_changed()
        while len(found := [name for name in await self._names() if name.endswith(("_squares", "_total"))]) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        made: Any = await self._client.call_tool(found[0], {})
        link = uri = made.content[1].uri
        rows: list[Any] = []
        while uri is not None:
            [page] = (await self._client.read_resource(uri)).contents
            rows += json.loads(page.text)["rows"]
            uri = (page.meta or {}).get("mcpframe/next")
        added: Any = await self._client.call_tool(found[1], {"rows": made.structured_content["handle"]})
        return json.dumps([link.partition("kept:")[0], len(rows), rows[-1], added.structured_content["result"]])

    async def median(self, name: str, times: int) -> float:
        """Return how long a call takes, in milliseconds."""
        took: list[float] = []
        for _ in range(times):
            begun = time.perf_counter()
            await self.call(name, '{"a": 1, "b": 2}')
            took.append(time.perf_counter() - begun)
        return sorted(took)[times // 2] * 1000


async def main(page: Page) -> None:
    """Join, and stay."""
    hub = PageHub("shop")
    async with hub.running(), hub.offering(server), mcp.Client(hub.client(), cache=None) as client:
        driver: Any = create_proxy(Driver(hub, client))
        js.tab = driver
        js.document.documentElement.dataset.state = "joined"
        await asyncio.Event().wait()
