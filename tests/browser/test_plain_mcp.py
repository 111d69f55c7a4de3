"""A bundle as a framed server of plain MCP: npm's `Client`, in the versions people have.

It posts to the frame's window (`PostMessageTransport`), or over a port that it hands over (`mcp-browser-transport`). A
framed server of the latter gets its port from `OuterFrame`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from playwright.async_api import BrowserContext, Page

from mcpframe.hosts import OuterFrame, PlaywrightPlace
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.plain_framed import write_servers
from tests.browser.plain_hosts import VERSIONS, bundle_host


@pytest.fixture(scope="session", params=VERSIONS)
def version(request: pytest.FixtureRequest, site: Path) -> str:
    """Each version of the host's SDK, as a module of the site."""
    bundle_host(site, str(request.param))
    return str(request.param)


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, origins: Origins, version: str) -> Page:
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(f"{origins.host}/plain_host.html?{version}")
    await page.wait_for_selector("html[data-state=loaded]", state="attached")
    return page


async def test_the_official_client_gets_what_the_server_has(page: Page, everything: Bundle) -> None:
    """Its one `initialize` comes long before Python runs, and its error for `ui/initialize` ends nothing else."""
    with anyio.fail_after(BOOT_PATIENCE):
        assert await page.evaluate("url => plain.connect(url)", everything.url)
        found = await page.evaluate(
            """async () => ({
                tools: (await plain.client.listTools()).tools.length,
                resources: (await plain.client.listResources()).resources.length,
                prompts: (await plain.client.listPrompts()).prompts.length,
            })"""
        )
    assert all(found.values()), found


async def test_a_host_that_comes_late(page: Page, everything: Bundle) -> None:
    with anyio.fail_after(BOOT_PATIENCE):
        assert await page.evaluate("url => plain.connect(url, { late: true })", everything.url)
        assert await page.evaluate("plain.client.listTools().then(({ tools }) => tools.length)") > 0


async def test_changed_lists_are_announced(page: Page, everything: Bundle) -> None:
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("url => plain.connect(url)", everything.url)
        await page.evaluate("plain.client.callTool({ name: 'grow', arguments: { name: 'grown' } })")
        await page.wait_for_function("plain.told.includes('notifications/tools/list_changed')")
        tools = await page.evaluate("plain.client.listTools().then(({ tools }) => tools.map(({ name }) => name))")
    assert "grown" in tools


async def test_values_belong_to_the_host_s_origin(page: Page, bundle_of: BundleOf) -> None:
    switched = bundle_of("switched", at="neighbour.host")  # else private profiles keep nothing of a frame
    with anyio.fail_after(BOOT_PATIENCE):
        for count in (1, 2):
            await page.evaluate("url => plain.connect(url)", f"{switched.url}?{count}")
            kept, dialect = await page.evaluate(
                """async () => [
                    (await plain.client.callTool({ name: "keep", arguments: {} })).structuredContent.result,
                    (await plain.client.callTool({ name: "dialect", arguments: {} })).structuredContent.result,
                ]"""
            )
            assert (kept, dialect) == (count, "plain_mcp")
            await page.evaluate("plain.frame.remove()")


@pytest.mark.parametrize("version", ["port"], indirect=True)
async def test_a_server_in_a_worker_over_a_port(page: Page, bundle_of: BundleOf) -> None:
    """Further hand-overs and messages to the window are those of no peer."""
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("url => plain.connect(url)", bundle_of("computing").url)
        counted = await page.evaluate(
            """async () => {
                const { contentWindow } = plain.frame;
                const initialize = { jsonrpc: "2.0", id: 7, method: "initialize", params: {} };
                const { port1, port2 } = new MessageChannel();
                const heard = [];
                port1.onmessage = ({ data }) => heard.push(data);
                addEventListener("message", ({ data }) => heard.push(data));
                contentWindow.postMessage("init", "*", [port2]);
                port1.postMessage(initialize);
                contentWindow.postMessage(initialize, "*");
                return [(await plain.client.listTools()).tools.length > 0, heard];
            }"""
        )
        assert counted == [True, []]


@pytest.fixture(scope="module")
def on_a_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a framed server that listens to nothing but a port."""
    folder = tmp_path_factory.mktemp("framed")
    write_servers(folder)
    with serve_folder(folder) as served:
        yield f"http://port.localhost:{served.port}/port.html"


@pytest.mark.parametrize("popup", [False, True], ids=["iframe", "popup"])
async def test_a_framed_server_is_handed_its_port_through_playwright(
    host_page: Page, on_a_port: str, popup: bool
) -> None:
    outer = OuterFrame(on_a_port, dialect="plain_mcp")
    with anyio.fail_after(BOOT_PATIENCE):
        async with Client(outer.connect(PlaywrightPlace(host_page, popup=popup))) as client:
            assert outer.session
            assert outer.session.connection.port
            assert outer.session.origin == on_a_port.removesuffix("/port.html")
            for number in range(3):
                result = await client.call_tool("add", {"a": 1, "b": number})
                assert result.content[0].text == str(1 + number)  # type: ignore[union-attr]


async def test_a_framed_server_is_handed_its_port_by_a_page_in_python(
    context: BrowserContext, troubles: Troubles, bundle_of: BundleOf, on_a_port: str
) -> None:
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(bundle_of("framing", at="framing").url)
    await page.wait_for_selector("html[data-state=loaded]", state="attached")
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("text => ask(text)", json.dumps([on_a_port, "plain_mcp", False]))
        called = await page.evaluate("text => ask(text)", json.dumps(["call", "add", {"a": 1, "b": 2}]))
    assert json.loads(called)["content"][0]["text"] == "3"
