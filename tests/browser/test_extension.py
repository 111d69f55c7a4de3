"""The extension in a real Chromium: pages of npm's packages and a bundle, and the official client at a port.

Whatever ends in mid-call, every caller gets an answer or an error, and the hub recovers by itself.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from playwright.async_api import Page, expect

from mcpframe.kit.hub.extension.build import build_extension, match_patterns
from tests.bridge.hub_pages import Site, has_waits, hub_site
from tests.bridge.test_hub_frames import ADD_FRAME
from tests.browser.conftest import BundleOf
from tests.browser.extension import Extended, chromium_with
from tests.browser.outers import PATIENCE
from tests.support.polling import until


def shop(tab: int) -> list[str]:
    return [f"website_tool_shop_localhost_tab{tab}_{name}" for name in ("add", "fail", "wait", "grow", "cart")]


def in_board(tab: int) -> list[str]:
    return [name.replace("_shop_", "_board_") for name in shop(tab)]


TOOLS = ("add", "fail", "wait", "meet", "grow", "shrink", "ask", "hang", "ended")
BOARD = [f"website_tool_board_localhost_tab1_{name}" for name in ("note", "hang", "more", "fail")]
GREET = "website_tool_proxied_localhost_tab1_greet"
FRAMED = [f"website_tool_board_localhost_tab2_{name}" for name in ("add", "fail", "wait", "grow")]
CACHED = "website_tool_shop_localhost_cart"
BUNDLE = "website_tool_bundle_localhost_tab1_"

STORM = """() => {
    const [server] = mcpb.servers;
    let tool = null;
    globalThis.storm = 0;
    setInterval(() => {
        tool?.remove();
        tool = server.registerTool(`storm${(storm += 1)}`, { description: "x" }, () => ({ content: [] }));
    }, 1);
}"""
"""A page that changes its list of tools as often as it can."""
INJECT = """async () => {
    for (const { matches, js, world } of chrome.runtime.getManifest().content_scripts) {
        for (const { id } of await chrome.tabs.query({ url: matches })) {
            await chrome.scripting.executeScript({ target: { tabId: id }, files: js, world });
        }
    }
}"""
"""What an extension does for pages that are open when it is installed."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("pages")) as served:
        yield served


@pytest.fixture(scope="module")
def bundle(bundle_of: BundleOf) -> str:
    """The address of a bundle, for a tab of its own."""
    return bundle_of("pageserver").url


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory, pages: Site, bundle: str) -> Path:
    sites = [pages.origin("shop"), pages.origin("board"), pages.origin("proxied"), bundle.rsplit("/", 2)[0]]
    return build_extension(tmp_path_factory.mktemp("extension") / "built", sites=sites)


@pytest.fixture
async def extended(extension: Path, tmp_path: Path) -> AsyncIterator[Extended]:
    async with chromium_with(extension, tmp_path) as running:
        yield running


async def has(client: Client, *wanted: str) -> None:
    """Wait until a client is offered these tools, and no others."""

    async def offered() -> bool:
        return {tool.name for tool in (await client.list_tools()).tools} == set(wanted)

    try:
        await until(offered, PATIENCE, pause=0.05)
    except TimeoutError:
        found = sorted(tool.name for tool in (await client.list_tools()).tools)
        raise AssertionError(f"{found} are offered, not {wanted}") from None


async def call(client: Client, name: str, **arguments: Any) -> str:
    with anyio.fail_after(PATIENCE):
        return str((await client.call_tool(name, arguments)).content[0].text)


async def fails(calling: Any) -> str | None:
    """Return the reason why a call fails; None for a result that says so."""
    with anyio.fail_after(PATIENCE):
        outcome: Any = (await asyncio.gather(calling, return_exceptions=True))[0]
    if isinstance(outcome, MCPError):
        return str((outcome.error.data or {}).get("reason"))
    assert outcome.is_error
    return None


async def opened(extended: Extended, url: str) -> Page:
    page = await extended.context.new_page()
    await page.goto(url)
    return page


async def test_pages_come_and_go(extended: Extended, pages: Site, bundle: str) -> None:
    first = await opened(extended, pages.shop())
    evil = await opened(extended, pages.shop("evil"))
    async with extended.client() as client, extended.client("legacy") as other:
        await has(client, *shop(1))
        assert await call(client, shop(1)[0], a=2, b=3) == "5"
        assert (await client.call_tool(shop(1)[1], {})).is_error

        tab = await opened(extended, bundle)
        second = await opened(extended, pages.shop())
        tools = [
            f"{BUNDLE}{name}" for name in ("add", "fail", "wait", "meet", "grow", "shrink", "ask", "hang", "ended")
        ]
        await has(other, *shop(1), *shop(2), *tools)
        assert await call(other, tools[0], a=2, b=3) == "5"
        progress: list[Any] = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            progress.append((done, total, message))

        waiting = asyncio.ensure_future(other.call_tool(tools[7], {"tag": "x" * 5_000_000}, progress_callback=note))
        await until(lambda: asyncio.sleep(0, progress), PATIENCE, pause=0.05)
        assert progress == [(1, 2, "x" * 5_000_000)]
        await call(client, tools[3])  # in another session, while that one runs
        with anyio.fail_after(PATIENCE):
            assert not (await waiting).is_error
        await call(client, tools[4])
        await has(client, *shop(1), *shop(2), *tools, f"{BUNDLE}more")

        # A reload in mid-call, and a tab that is closed.
        calling = asyncio.ensure_future(client.call_tool(shop(1)[2], {}))
        await has_waits(first, 1)
        assert await call(other, shop(1)[0], a=1, b=1) == "2"
        await first.reload()
        assert await fails(calling) in ("TabClosed", None)
        assert await call(client, shop(1)[0], a=2, b=2) == "4"
        calling = asyncio.ensure_future(client.call_tool(shop(2)[2], {}))
        await has_waits(second, 1)
        assert await call(other, shop(2)[0], a=1, b=2) == "3"
        await second.close()
        assert await fails(calling) == "TabClosed"
        # To another site and back, which may come from the browser's cache for that.
        await tab.goto(pages.shop())
        await has(client, *shop(1), *shop(3))
        await tab.goto(pages.shop("evil"))
        await has(client, *shop(1))
        await tab.go_back()
        await has(client, *shop(1), *shop(3))
        assert await call(client, shop(3)[0], a=3, b=3) == "6"
        await tab.close()

        # The tools of a document, in Chromium's own way or a polyfill's.
        page = await opened(extended, pages.board())
        await has(client, *shop(1), *BOARD)
        assert await call(client, BOARD[0], text="tea") == "noted tea"
        assert (await client.call_tool(BOARD[3], {})).is_error
        calling = asyncio.ensure_future(client.call_tool(BOARD[1], {}))
        await call(client, BOARD[2])
        await has(client, *shop(1), *BOARD, BOARD[0].replace("note", "late"))
        await page.close()
        assert await fails(calling) == "TabClosed"

        # A page with a content script of MCP-B, which speaks for it.
        page = await opened(extended, pages.shop("proxied"))
        await has(client, *shop(1), GREET)
        assert await call(client, GREET, to="x") == 'greet {"to":"x"}'
        await has(client, *shop(1), GREET, GREET.replace("greet", "part"))
        await page.close()
        await has(client, *shop(1))

        # A frame of another site, in a page that has no tools itself.
        page = await opened(extended, f"{pages.origin('shop')}/frames.html")
        await page.evaluate(ADD_FRAME, [f"{pages.origin('board')}/frames.html#serve=*", ""])
        await has(client, *shop(1), *FRAMED)
        assert await call(client, FRAMED[0], a=4, b=3) == "7"
        calling = asyncio.ensure_future(client.call_tool(FRAMED[2], {}))
        await has_waits(page.frames[-1], 1)
        assert await call(other, FRAMED[0], a=4, b=4) == "8"
        await page.close()
        assert await fails(calling) == "TabClosed"
        await has(client, *shop(1))

        # A tool that its page lets be cached opens a tab.
        await first.close()
        await has(client, CACHED)
        async with extended.context.expect_page() as opening:
            assert await call(client, CACHED) == "an empty cart"
        page = await opening.value
        assert page.url == pages.shop()
        await has(client, *shop(4))
        assert not await evil.evaluate("mcpb.posted.filter(each => each.direction === 'client-to-server').length")


async def test_a_page_has_one_relay_whatever_injects_it(extended: Extended, pages: Site) -> None:
    """A page that is opened around the install has the scripts of the manifest, and may get those of the worker."""
    await opened(extended, pages.shop())
    reloading = asyncio.ensure_future(extended.reload())
    await asyncio.gather(*(opened(extended, pages.shop()) for _ in range(3)))
    await reloading
    changes = 0

    async def note(message: Any) -> None:
        nonlocal changes
        changes += getattr(message, "method", "") == "notifications/tools/list_changed"

    async with Client(extended.transport(), mode="legacy", cache=None, message_handler=note) as client:
        await has(client, *shop(1), *shop(2), *shop(3), *shop(4))
        for _ in range(3):
            await extended.client_page.evaluate(INJECT)
        await has(client, *shop(1), *shop(2), *shop(3), *shop(4))
        before = changes
        for _ in range(3):
            for tab in range(1, 5):
                assert await call(client, shop(tab)[0], a=tab, b=3) == str(tab + 3)
        assert changes == before


@pytest.mark.extended  # `tests/unit/hub` has the limit
async def test_a_page_that_changes_its_list_without_end_is_bounded(extended: Extended, pages: Site) -> None:
    popup = await opened(extended, f"{extended.origin}/popup.html")
    await opened(extended, pages.shop())
    hostile = await opened(extended, pages.shop("board"))
    changes = 0

    async def note(message: Any) -> None:
        nonlocal changes
        changes += getattr(message, "method", "") == "notifications/tools/list_changed"

    now = asyncio.get_running_loop().time
    async with Client(extended.transport(), mode="legacy", cache=None, message_handler=note) as client:
        await has(client, *shop(1), *in_board(1))
        await hostile.evaluate(STORM)
        begun, changes = now(), 0
        while now() < begun + 4:  # the storm lasts for as long
            assert await call(client, shop(1)[0], a=1, b=3) == "4"
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names >= {*shop(1), *in_board(1)}
            assert len(names) <= len(shop(1)) + len(in_board(1)) + 1
        assert 0 < changes <= 2 * (now() - begun) + 2  # the relay reads a list twice a second
        assert await hostile.evaluate("storm") > 2 * changes
        assert await popup.locator("#log li").count() <= 200
        await expect(popup.locator("#log")).to_contain_text("Tool 'add' is executed")


async def test_a_cached_tool_whose_page_leads_elsewhere_calls_nobody(extended: Extended, pages: Site) -> None:
    leading = pages.folder / "leading.html"
    leading.write_text((pages.folder / "shop.html").read_text("utf-8"), "utf-8")
    page = await opened(extended, f"{pages.origin('shop')}/leading.html")
    async with extended.client() as client:
        await has(client, *shop(1))
        await page.close()
        await has(client, CACHED)
        elsewhere = pages.shop("board")  # which has the same tools
        leading.write_text(f"<script>location.replace({json.dumps(elsewhere)})</script>", "utf-8")
        async with extended.context.expect_page() as opening:
            calling = asyncio.ensure_future(client.call_tool(CACHED, {}))
        page = await opening.value
        await has(client, CACHED, *in_board(1))
        assert await fails(calling) in ("TabNotFound", "TabLoadFailed")
        assert page.url == elsewhere
        assert not await page.evaluate("mcpb.posted.filter(({ payload }) => payload?.method === 'tools/call').length")


@pytest.mark.extended
async def test_whatever_ends_comes_back(extended: Extended, pages: Site) -> None:
    page = await opened(extended, pages.shop())
    async with extended.client() as client:
        await has(client, *shop(1))
        # The service worker is stopped in mid-call, as the browser does whenever it likes.
        calling = asyncio.ensure_future(client.call_tool(shop(1)[2], {}))
        await has_waits(page, 1)
        assert await call(client, shop(1)[0], a=1, b=1) == "2"
        await extended.stop_worker()
        assert await call(client, shop(1)[0], a=2, b=3) == "5"
        await page.close()
        assert await fails(calling) == "TabClosed"
        await has(client, CACHED)
        await extended.stop_worker()
        async with extended.context.expect_page() as opening:  # which only the worker can do
            assert await call(client, CACHED) == "an empty cart"
        page = await opening.value
        await has(client, *shop(2))

        # The hub's own document is ended in mid-call.
        calling = asyncio.ensure_future(client.call_tool(shop(2)[2], {}))
        await has_waits(page, 1)
        assert await call(client, shop(2)[0], a=1, b=1) == "2"
        await extended.end_hub()
        await fails(calling)
    async with extended.client() as client:
        await has(client, *shop(2))
        assert await call(client, shop(2)[0], a=2, b=3) == "5"
        # Both at once; a document with tools, and not a server, is there, too.
        await opened(extended, pages.board())
        await has(client, *shop(2), *BOARD)
        await extended.stop_worker()
        await extended.end_hub()
    async with extended.client() as client:
        await has(client, *shop(2), *BOARD)
        assert await call(client, BOARD[0], text="tea") == "noted tea"
    # The extension is loaded again, as for an update: pages that are open get its new scripts, and tabs new numbers.
    await extended.reload()
    async with extended.client() as client:
        await has(client, *shop(1), *BOARD)
        assert await call(client, shop(1)[0], a=3, b=3) == "6"
        assert await call(client, BOARD[0], text="milk") == "noted milk"
    # A hub that fails starts again, and nobody waits for it meanwhile.
    settings = extended.folder / "settings.json"
    right = settings.read_text()
    settings.write_text("wrong")
    await extended.end_hub()

    async def fails_to_connect() -> bool:
        try:
            async with extended.client():
                return False
        except Exception:  # noqa: BLE001  whatever the SDK raises
            return True

    with anyio.fail_after(PATIENCE):
        assert await fails_to_connect()
    settings.write_text(right)

    async def connects() -> bool:
        return not await fails_to_connect()

    await until(connects, PATIENCE, pause=0.05)
    async with extended.client() as client:
        await has(client, *shop(1), *BOARD)
        for each in extended.context.pages:
            if each != extended.client_page:
                await each.close()
        await has(client, CACHED)
    # What is cached outlives the hub.
    await extended.end_hub()
    async with extended.client() as client:
        await has(client, CACHED)
        assert await call(client, CACHED) == "an empty cart"


def test_what_chrome_demands_of_an_extension(tmp_path: Path) -> None:
    out = tmp_path / "extension"
    for sites in ([], ["https://shop.example", "http://localhost:8080"]):
        assert build_extension(out, sites=sites, longest_name=64) == out
        manifest = json.loads((out / "manifest.json").read_text())
        settings = json.loads((out / "settings.json").read_text())
        patterns = [each for site in sites or ["*"] for each in match_patterns(site)]
        assert set(manifest["host_permissions"]) == set(patterns)
        assert {pattern for each in manifest["content_scripts"] for pattern in each["matches"]} == set(patterns)
        assert (settings["sites"], settings["longest_name"]) == (sites or ["*"], 64)
    policy = manifest["content_security_policy"]["extension_pages"]
    assert "script-src 'self' 'wasm-unsafe-eval';" in policy
    files = [path for path in out.rglob("*") if path.is_file()]
    assert not [path.name for path in out.iterdir() if path.name.startswith("_")]
    assert any(path.name.startswith("snapshot.") for path in files)
    for path in files:
        if path.suffix == ".html":
            text = path.read_text()
            assert not [tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag and "json" not in tag]
            assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
        if path.suffix in (".js", ".mjs") and path.parent.name != "shared" and "pyodide" not in path.parent.name:
            assert not re.search(r"\beval\(|new Function|import\(", path.read_text()), path
