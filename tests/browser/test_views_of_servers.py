"""A view all the way: a server in plain CPython, over stdio, whose resource a real host shows in its sandbox."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.views import View
from tests.browser.apps_hosts import AppsHost
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.test_view_text import SandboxHost, policy, sandbox
from tests.support.built import OWN

FORECAST = templates_dir() / "forecast"
ADDRESS = "https://tools.example/forecast/"


@pytest.fixture(scope="module")
def bundle(bundle_of: BundleOf) -> Bundle:
    """The bundle of the template as it is: any host of MCP Apps may show it."""
    return bundle_of("forecast", allowed_origins=OWN, url=ADDRESS)


@pytest.fixture
async def client(bundle: Bundle, tmp_path: Path) -> AsyncIterator[Client]:
    environment = {**os.environ, "PYTHONPATH": str(checkout_dir()), "FORECAST_URL": bundle.url}
    parameters = StdioServerParameters(command=sys.executable, args=[str(FORECAST / "server.py")], env=environment)
    with (tmp_path / "stderr.txt").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            yield client


@pytest.fixture
async def host(context: BrowserContext, troubles: Troubles, origins: Origins, app_bridge: str) -> SandboxHost:
    url = f"{sandbox(origins)}/apps_sandbox.html"
    return SandboxHost(await AppsHost.load(context, origins, url, app_bridge))


async def test_a_host_shows_the_view_of_a_server_over_stdio(client: Client, host: SandboxHost) -> None:
    tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "get_forecast")
    assert tool.meta
    (content,) = (await client.read_resource(tool.meta["ui"]["resourceUri"])).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.meta
    frames = " ".join(content.meta["ui"]["csp"]["frameDomains"])  # what the host allows, and no more
    await host.open(content.text, policy=policy(frame_src=frames), context={"theme": "dark"})
    result = await client.call_tool("get_forecast", {"place": "Wien", "days": 4})
    await host.call("sendToolInput", {"arguments": {"place": "Wien", "days": 4}})
    await host.call("sendToolResult", result.model_dump(mode="json", by_alias=True, exclude_none=True))
    view = host.view.frame_locator("iframe")
    await expect(view.locator("[data-day]")).to_have_count(4)
    await expect(view.locator("html")).to_have_attribute("data-theme", "dark")
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


@pytest.mark.parametrize("form", ["app", "inline"])
def test_a_view_of_the_built_folder(bundle: Bundle, form: Any) -> None:
    view = View(bundle.folder / "forecast", uri="ui://weather/forecast", form=form)
    other = View(ADDRESS, uri="ui://weather/forecast", form=form)
    assert ADDRESS in view.html
    assert (view.html, view.meta) == (other.html, other.meta)
