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
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles, profile_with_third_party_storage
from tests.browser.test_view_text import SandboxHost, policy, sandbox
from tests.support.built import OWN

FORECAST = templates_dir() / "forecast"
ADDRESS = "https://tools.example/python/forecast/"


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


async def test_a_call_that_is_shown_again_is_as_the_user_left_it(
    client: Client, bundle: Bundle, origins: Origins, app_bridge: str, tmp_path: Path
) -> None:
    """Some hosts make a new frame each time they show a call, such as those that reopen an old conversation."""
    (content,) = (await client.read_resource("ui://weather/forecast")).contents
    assert isinstance(content, types.TextResourceContents)
    calls = [await client.call_tool("get_forecast", {"place": "Wien", "days": 4}) for _ in range(2)]
    async with profile_with_third_party_storage(tmp_path / "profile") as context:

        async def show(result: types.CallToolResult, expected: int) -> None:
            host = SandboxHost(
                await AppsHost.load(context, origins, f"{sandbox(origins)}/apps_sandbox.html", app_bridge)
            )
            await host.open(content.text, policy=policy(frame_src=bundle.origin), answers={"onupdatemodelcontext": {}})
            await host.call("sendToolInput", {"arguments": {"place": "Wien", "days": 4}})
            await host.call("sendToolResult", result.model_dump(mode="json", by_alias=True, exclude_none=True))
            days = host.view.frame_locator("iframe").locator("[data-day]")
            await expect(days.nth(expected)).to_have_attribute("aria-pressed", "true")
            await days.nth(2).click()
            await host.taken("onupdatemodelcontext")  # after the day is kept
            await host.page.close()

        for result, expected in ((calls[0], 0), (calls[0], 2), (calls[1], 0)):
            await show(result, expected)


@pytest.mark.parametrize("form", ["app", "inline"])
def test_a_view_of_the_built_folder(bundle: Bundle, form: Any) -> None:
    view = View(bundle.folder / "forecast", uri="ui://weather/forecast", form=form)
    other = View(ADDRESS, uri="ui://weather/forecast", form=form)
    assert ADDRESS in view.html
    assert (view.html, view.meta) == (other.html, other.meta)
