"""A server of mcp 1.x, framed, as a view: the official `AppBridge` lists and calls its tools."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext

from tests.browser.apps_hosts import AppsHost
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles


@pytest.fixture(scope="session")
def view_of_mcp_1(bundle_of: BundleOf) -> Bundle:
    return bundle_of("mcp1")


async def test_its_tools_are_the_app_s_tools(
    context: BrowserContext, troubles: Troubles, origins: Origins, view_of_mcp_1: Bundle, app_bridge: str
) -> None:
    host = await AppsHost.load(context, origins, view_of_mcp_1.url, app_bridge)
    said = await host.open()
    assert said["appCapabilities"]["tools"] == {"listChanged": True}
    assert (await host.taken("size"))["height"] > 0
    listed = await host.call("listTools")
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["celsius", "talk", "ask", "leave", "read_secret"]
    assert await host.tool("celsius", fahrenheit=212) == {"result": 100}
    await host.call("sendToolInput", {"arguments": {"fahrenheit": 212}})
    assert await host.tool("talk", text="hey") == {"result": "hey"}
    assert await host.taken("progress") == {"progress": 1, "total": 2, "message": "half"}
    assert (await host.taken("log"))["data"] == "logged hey"
    failed = await host.call("callTool", {"name": "ask", "arguments": {}})
    assert failed["result"]["isError"], "a host of views has no roots"
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}
