"""What ends around `mcpframe hub`, in mid-call: its browser, which comes back; a client; the hub itself.

The clients are those of the official TypeScript SDKs, in both protocol eras, over Streamable HTTP.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from playwright.async_api import Page, async_playwright

from tests.bridge.hub_pages import Site, hub_site
from tests.bridge.hub_programs import SHOP, http_hub, in_tab, text, typescript_clients, user_chromium
from tests.bridge.programs import PATIENCE
from tests.contract.playing import POLL

KINDS = ("modern", "legacy", "sdk1")
ADD, _, WAIT, *_ = SHOP


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("site")) as served:
        yield served


async def all_done(calls: list[asyncio.Future[Any]]) -> list[Any]:
    with anyio.fail_after(PATIENCE):
        return await asyncio.gather(*calls)


async def called(page: Page, count: int) -> None:
    """Wait until a page has got this many calls of `wait`."""
    await heard(page, "payload?.params?.name === 'wait'", count)


async def cancelled(page: Page, count: int) -> None:
    """Wait until this many calls of a page were cancelled."""
    await heard(page, "payload?.method === 'notifications/cancelled'", count)


async def heard(page: Page, condition: str, count: int) -> None:
    found = f"() => mcpb.posted.filter(({{ payload }}) => {condition}).length === {count}"
    await page.wait_for_function(found, polling=POLL)


@pytest.mark.extended
async def test_typescript_clients_of_tabs_that_change_and_a_browser_that_comes_back(site: Site, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        chromium = (await stack.enter_async_context(async_playwright())).chromium
        browser = await stack.enter_async_context(user_chromium(tmp_path))
        await browser.start(site.shop())
        hub = await stack.enter_async_context(http_hub("--attach", browser.address, f"--site={site.origin('shop')}"))
        clients = await stack.enter_async_context(typescript_clients(hub.address, *KINDS))
        await clients.have(*SHOP)
        [context] = (await chromium.connect_over_cdp(browser.address)).contexts
        [first] = context.pages
        second = await context.new_page()
        await second.goto(site.shop())
        await clients.have(*SHOP, *in_tab(2, SHOP))  # each was notified
        assert all(clients.changes.values())
        add2, _, wait2, *_ = in_tab(2, SHOP)
        for count, kind in enumerate(KINDS, 1):
            for number, name in enumerate((ADD, add2)):
                answer = await clients.call(kind, name, a=number, b=2)
                assert answer["result"]["content"] == [{"type": "text", "text": str(number + 2)}]
            assert (await clients.call(kind, SHOP[1]))["result"]["isError"]
            assert (await clients.call(kind, "nothing"))["error"]["code"] == -32602
            id_, waiting = clients.calling(kind, wait2)
            await called(second, count)
            clients.cancel(id_)
            assert "error" in (await all_done([waiting]))[0]
            await cancelled(second, count)
        await second.close()
        await clients.have(*SHOP)

        all_waiting = [clients.calling(kind, WAIT)[1] for kind in KINDS]
        await called(first, len(KINDS))
        await browser.kill()
        for answer in await all_done(all_waiting):
            assert answer["error"]["code"] == -32001
            assert answer["error"]["data"]["reason"] == "TabClosed"
            assert answer["error"]["data"]["mayHaveRun"]
        await clients.have("website_tool_shop_localhost_cart")
        gone = await clients.call("modern", ADD, a=1, b=1)
        assert gone["error"]["data"]["reason"] == "TabNotFound"
        await browser.start(site.shop())
        names = in_tab(3, SHOP)  # not those of the tab that was closed
        add, _, wait, *_ = names
        await clients.have(*names)
        assert (await clients.call("sdk1", add, a=3, b=2))["result"]["content"][0]["text"] == "5"

        # Clients that are killed in mid-call, and one that comes afterwards.
        [context] = (await chromium.connect_over_cdp(browser.address)).contexts
        [page] = context.pages
        for kind in KINDS:
            clients.calling(kind, wait)
        await called(page, len(KINDS))
        await clients.end()
        await cancelled(page, 1)  # in the newer era; in the older one a call goes on, as the client may come back
        async with Client(hub.address, cache=None) as python:
            assert text(await python.call_tool(add, {"a": 4, "b": 4})) == "8"

        # The hub ends. Clients of the older era would wait for the answer until their own time-out.
        clients = await stack.enter_async_context(typescript_clients(hub.address, *KINDS))
        all_waiting = [clients.calling(kind, wait)[1] for kind in KINDS]
        await called(page, 2 * len(KINDS))
        assert await hub.ends(signal.SIGTERM) == 0
        for answer in await all_done(all_waiting):
            assert answer["error"]["code"] == -32000
            assert answer["error"]["data"] == {"reason": "HubClosed", "mayHaveRun": True}
        assert await page.evaluate("1 + 1") == 2  # the user's browser goes on
