"""A bundle as a page server of MCP-B, for npm's `@mcp-b/transports` with the TypeScript SDK."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.mcpb import Peer, bring, bundle_peers, posted
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended

TOOLS = ["add", "fail", "wait", "meet", "grow", "shrink", "ask", "hang", "ended"]


@pytest.fixture(scope="session")
def peers(site: Path) -> str:
    """The text of the script with the official peers, as a module of the site."""
    return bundle_peers(site)


@pytest.fixture(scope="session")
def page_server(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/pageserver`, which the host's origin may embed."""
    return bundle_of("pageserver")


async def open_tab(context: BrowserContext, page_server: Bundle, peers: str) -> Page:
    """Open the bundle in a tab of its own, with the official peers in it."""
    page = await context.new_page()
    await page.goto(page_server.url)
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT_PATIENCE * 1000)
    await bring(page, peers)
    return page


async def open_around(context: BrowserContext, origins: Origins) -> Page:
    """Open a page of the host's origin with the official peers in it."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/mcpb.html")
    await page.wait_for_selector("html[data-state=loaded]")
    return page


class Setting:
    """A page with the bundle in it, and what connects clients to it."""

    def __init__(self, page: Page, url: str, channel: str) -> None:
        self.page = page
        self.url = url
        self.channel = channel

    async def client(self, mode: str | None = None) -> Peer:
        """Connect a client."""
        if self.channel == "mcp-default":
            return await Peer.tab(self.page, mode)
        return await Peer.around(self.page, self.url, mode)


@pytest.fixture(params=["tab", extended("iframe")])
async def setting(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    troubles: Troubles,
    origins: Origins,
    page_server: Bundle,
    peers: str,
) -> Setting:
    """The bundle in a tab of its own, or in a frame."""
    if request.param == "tab":
        return Setting(await open_tab(context, page_server, peers), page_server.url, "mcp-default")
    return Setting(await open_around(context, origins), page_server.url, "mcp-iframe")


in_both = pytest.mark.parametrize("setting", ["tab", "iframe"], indirect=True)


@in_both
async def test_its_tools(setting: Setting) -> None:
    client = await setting.client()
    assert await client.tools() == TOOLS
    assert await client.tool("add", a=2, b=3) == {
        "content": [{"type": "text", "text": "5"}],
        "structuredContent": {"result": 5},
        "isError": False,
    }
    failed = await client.tool("fail")
    assert failed["isError"]
    assert "no luck" in failed["content"][0]["text"]
    unknown = await client.call("listPrompts")
    assert unknown == {"result": {"prompts": []}}
    assert all(isinstance(message["payload"], dict | str) for message in await posted(setting.page))


async def test_calls_at_once_do_not_wait_for_each_other(setting: Setting) -> None:
    client = await setting.client()
    with anyio.fail_after(BOOT_PATIENCE):
        waiting = asyncio.create_task(client.tool("wait"))
        assert (await client.tool("meet"))["content"][0]["text"] == "here"
        assert (await waiting)["content"][0]["text"] == "met"


async def test_a_tool_that_is_added_is_announced(setting: Setting) -> None:
    client = await setting.client()
    await client.tool("grow")
    await client.heard("list_changed")
    assert await client.tools() == [*TOOLS, "more"]
    await client.tool("shrink")
    await client.heard("list_changed")
    assert await client.tools() == TOOLS
    capabilities = (await client.call("getServerCapabilities"))["result"]
    assert capabilities["tools"] == {"listChanged": True}
    told = [m["payload"]["result"] for m in await posted(setting.page) if "result" in of(m["payload"])]
    [introduction] = [result["capabilities"] for result in told if "capabilities" in result]
    assert introduction["browser"] == {"cacheSupported": True}


def of(payload: Any) -> Any:
    """A payload that is not a signal."""
    return payload if isinstance(payload, dict) else {}


@in_both
async def test_requests_of_the_server_progress_and_cancellations(setting: Setting) -> None:
    """With two clients at once, each gets what is its own."""
    one = await setting.client()
    assert (await one.tool("ask"))["content"][0]["text"] == "a person, a model"
    two = await setting.client()
    for _ in range(4):  # so that their ids differ: both hear all
        await two.tools()
    for client, tag in ((one, "one"), (two, "two")):
        await setting.page.evaluate("given => mcpb.watch(...given)", [client.number, "hang", {"tag": tag}])
        assert await client.heard("progress") == f"progress: 1 of 2, {tag}"
    await setting.page.evaluate("number => mcpb.abort(number)", one.number)
    assert (await one.heard("watched")).startswith("watched: error")
    assert (await one.tool("ended"))["structuredContent"] == {"result": ["one"]}
    await one.tool("meet")
    assert await two.heard("watched") == "watched: two"
    assert (await two.tool("ended"))["structuredContent"] == {"result": ["one"]}
    said = await setting.page.evaluate("mcpb.everything()")
    assert [what for _, what in said if what.startswith("progress")] == []


@pytest.mark.parametrize("mode", ["2026-07-28", extended("auto")])
async def test_a_client_of_the_newest_revision(setting: Setting, mode: str) -> None:
    pinned = mode if mode == "auto" else {"pin": mode}
    client = await setting.client(pinned)  # type: ignore[arg-type]
    assert await client.call("getProtocolEra") in ({"result": "modern"}, {"result": "2026-07-28"})
    assert (await client.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}


@pytest.mark.skipif(not SNAPSHOTS, reason="about pages from a snapshot")
async def test_its_first_answers_need_no_file(setting: Setting) -> None:
    found: list[str] = []
    setting.page.on("request", lambda request: found.append(request.url) if request.resource_type == "xhr" else None)
    client = await setting.client()
    assert await client.tools() == TOOLS
    assert (await client.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}
    assert found == []


@pytest.mark.extended
async def test_a_page_that_is_left_in_mid_call(
    context: BrowserContext, troubles: Troubles, origins: Origins, page_server: Bundle, peers: str
) -> None:
    """The call fails at once. A client that does not notice more than that is served by the page that comes then."""
    page = await open_around(context, origins)
    client = await Peer.around(page, page_server.url)
    await page.evaluate("given => mcpb.watch(...given)", [client.number, "hang", {"tag": "left"}])
    await client.heard("progress")
    await page.evaluate("() => { mcpb.posted.length = 0; document.querySelector('iframe').src += ''; }")
    assert "left before it answered" in await client.heard("watched")
    with anyio.fail_after(BOOT_PATIENCE):
        await page.wait_for_function("mcpb.posted.some(({ payload }) => payload === 'mcp-server-ready')")
    assert (await client.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}


@pytest.mark.extended
async def test_several_clients_of_one_window(setting: Setting) -> None:
    one = await setting.client()
    two = await setting.client()
    assert (await one.tool("add", a=1, b=1))["structuredContent"] == {"result": 2}
    three = await setting.client("auto")
    for client in (two, three, one):
        assert (await client.tool("add", a=2, b=2))["structuredContent"] == {"result": 4}
    await two.call("close")
    assert (await one.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}


@pytest.mark.extended
async def test_the_standalone_page_goes_on_to_say_what_it_is(
    context: BrowserContext, troubles: Troubles, page_server: Bundle, peers: str
) -> None:
    page = await open_tab(context, page_server, peers)
    client = await Peer.tab(page)
    assert await client.tools() == TOOLS
    await expect(page.locator("#mcpframe-page")).to_have_attribute("data-state", "standalone")
    await expect(page.locator("#mcpframe-status")).to_contain_text("serves the page that embeds it")
    await expect(page.locator("dt")).to_have_count(len(TOOLS))
