"""What `mcpframe hub` finds in pages: frames with servers of npm's `@mcp-b/transports`, a server of transports 0.1, and
a bundle in a frame, in one that has WebMCP as well, and in a tab.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from playwright.async_api import Frame, Page

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from tests.bridge.hub_pages import Site, has_waits, hub_site, waits
from tests.bridge.hub_programs import has, http_hub, text, user_browser
from tests.bridge.programs import PATIENCE
from tests.browser.conftest import PAGES
from tests.browser.mcpb import bundle_peers

TOOLS = [f"website_tool_tools_localhost_tab1_{name}" for name in ("add", "fail", "wait", "grow")]
PI = [f"website_tool_pi_localhost_tab1_{name}" for name in ("calculate_pi", "reset")]
ADD_FRAME = """([url, sandbox]) => {
  const frame = document.createElement("iframe");
  if (sandbox) frame.sandbox = sandbox;
  frame.src = url;
  document.body.append(frame);
}"""
FORGED = """([origin]) => {
  for (const payload of ["mcp-server-stopped", { jsonrpc: "2.0", id: "forged", result: {} }]) {
    const data = { channel: "mcp-iframe", type: "mcp", direction: "server-to-client", payload };
    dispatchEvent(new MessageEvent("message", { data, origin, source: frames[0] }));
  }
}"""
OLD = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
import "./mcpb_old_page.js";
old.serve("tab", "mcp-default", [location.origin]);
</script>
"""
OURS = "mcpb.posted.filter(({ payload }) => String(payload?.id).startsWith('hub-')).length"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """The site, and the address of a bundle that its pages may embed."""
    folder = tmp_path_factory.mktemp("site")
    bundle_peers(folder, PAGES / "mcpb_old_page.js", "mcp-b-0.1")
    (folder / "old.html").write_text(OLD, "utf-8")
    with hub_site(folder) as served:
        built = build(templates_dir() / "pi-calculator", folder, allowed_origins=[served.origin("page")])
        yield served, f"{served.origin('pi')}/{built.url_path}"


async def framed(page: Page, url: str, sandbox: str = "") -> Frame:
    """Add a frame, and return it when its document is there."""
    number = len(page.frames)
    await page.evaluate(ADD_FRAME, [url, sandbox])
    while len(page.frames) == number:
        await page.wait_for_event("frameattached")
    frame = page.frames[-1]
    await frame.wait_for_url(url)
    return frame


async def closes(calling: asyncio.Future[Any]) -> None:
    """Assert that a call fails as its frame, or its page, has gone."""
    with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as caught:
        await calling
    assert caught.value.error.data["reason"] == "TabClosed"


@pytest.mark.extended  # test_extension.py has frames, tests/unit/hub their rules
async def test_frames_of_a_page(site: tuple[Site, str], tmp_path: Path) -> None:
    served, bundle = site
    host, server = f"{served.origin('page')}/frames.html", f"{served.origin('tools')}/frames.html#serve=*"
    sites = [option for name in ("page", "tools", "pi") for option in ("--site", served.origin(name))]
    async with (
        user_browser(tmp_path) as (context, devtools),
        http_hub("--attach", devtools, *sites) as hub,
        Client(hub.address, cache=None) as client,
    ):

        async def adds() -> None:
            with anyio.fail_after(PATIENCE):
                assert text(await client.call_tool(TOOLS[0], {"a": 2, "b": 3})) == "5"

        async def waiting(frame: Frame | Page) -> asyncio.Future[Any]:
            before = await waits(frame)
            calling = asyncio.ensure_future(client.call_tool(TOOLS[2], {}))
            await has_waits(frame, before + 1)
            return calling

        page = await context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(host)
        first = await framed(page, server)
        evil = await framed(page, server.replace("tools", "evil"))
        opaque = await framed(page, server, "allow-scripts")
        await framed(page, bundle)
        await has(client, *TOOLS, *PI)
        await adds()
        with anyio.fail_after(PATIENCE):
            assert not (await client.call_tool(PI[0], {"iterations": 1000})).is_error
            await client.call_tool(TOOLS[3], {})
        more = TOOLS[0].replace("add", "more")
        await has(client, *TOOLS, more, *PI)
        await page.evaluate(FORGED, [served.origin("tools")])
        await adds()
        for frame in (evil, opaque):
            assert await frame.evaluate("mcpb.posted.length") == 0

        # A frame that is loaded again, and one that is removed, in mid-call.
        calling = await waiting(first)
        await first.evaluate("setTimeout(() => location.reload())")
        await closes(calling)
        await has(client, *TOOLS, *PI)
        await adds()
        calling = await waiting(first)
        await page.evaluate("document.querySelector('iframe').remove()")
        await closes(calling)
        await has(client, *PI)

        # A page that is loaded again: its frame has the names that it had.
        await page.reload()
        await has(client)
        again = await framed(page, server)
        await has(client, *TOOLS)
        calling = await waiting(again)
        await page.reload()
        await closes(calling)

        # The page's own client comes later: the frame is its own then.
        again = await framed(page, server)
        await has(client, *TOOLS)
        with anyio.fail_after(PATIENCE):
            number = await page.evaluate("url => mcpb.iframeClient(url)", server)
            await has(client)
            given = {"name": "add", "arguments": {"a": 1, "b": 1}}
            called = await page.evaluate("given => mcpb.call(...given)", [number, "callTool", given])
        assert called["result"]["content"][0]["text"] == "2"

        # One that is there from the beginning is not disturbed: nothing was posted when the next frame is relayed.
        other = await context.new_page()
        other.set_default_timeout(PATIENCE * 1000)
        await other.goto(host)
        await other.evaluate("url => mcpb.iframeClient(url)", server)  # frames it, too
        hosted = other.frames[-1]
        await framed(other, bundle)
        await has(client, *(name.replace("tab1", "tab2") for name in PI))
        assert await hosted.evaluate(OURS) == 0

        # A bundle in a tab of its own.
        await other.goto(bundle)
        await has(client, *(name.replace("tab1", "tab3") for name in PI))

        # A bundle of the page's own origin, whose tools Chromium lists among those of the page's document as well.
        await other.goto(host)
        await framed(other, bundle.replace("//pi.", "//page."))
        await has(client, *(name.replace("pi_localhost_tab1", "page_localhost_tab2") for name in PI))

        await other.goto(f"{served.origin('tools')}/old.html")
        await has(client, *(name.replace("tab1", "tab2") for name in TOOLS[:3]))
