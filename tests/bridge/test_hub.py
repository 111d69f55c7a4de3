"""`mcpframe hub` as a program: a Chromium of its own, and one that runs already, with the pages of npm's packages."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, Error, Page, async_playwright

from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from tests.bridge.hub_pages import Site, hub_site
from tests.bridge.programs import PATIENCE, ROOT, environment, processes_with

COMMAND = [sys.executable, "-m", "mcpframe", "hub"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("site")) as served:
        yield served


async def happens(condition: Any) -> None:
    """Wait until an async function returns something true."""
    with anyio.fail_after(PATIENCE):
        while not await condition():  # noqa: ASYNC110
            await anyio.sleep(0.05)  # other programs do not report it


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def has(client: Client, *wanted: str) -> None:
    """Wait until a client is offered these tools, and no others."""

    async def offered() -> bool:
        return await names(client) == set(wanted)

    try:
        await happens(offered)
    except TimeoutError:
        raise AssertionError(f"{await names(client)} are offered, not {wanted}") from None


def text(result: Any) -> str:
    return str(result.content[0].text)


SHOP = [f"website_tool_shop_localhost_tab1_{name}" for name in ("add", "fail", "wait", "grow", "cart")]
BOARD = [f"website_tool_board_localhost_tab1_{name}" for name in ("note", "hang", "more", "fail")]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_browser_of_its_own_over_stdio(site: Site, tmp_path: Path, mode: str) -> None:
    log = tmp_path / "calls.log"
    pages = [site.shop(), site.board(), site.shop("evil")]
    sites = [f"--site={site.origin(name)}" for name in ("shop", "board")]
    options = ["--headless", "--profile", str(tmp_path / "profile"), "--log", str(log)]
    server = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *pages, *sites, *options], env=environment(), cwd=ROOT
    )
    async with Client(stdio_client(server), mode=mode, cache=None) as client:
        await has(client, *SHOP, *BOARD)
        with anyio.fail_after(PATIENCE):
            assert text(await client.call_tool(SHOP[0], {"a": 2, "b": 3})) == "5"
            assert (await client.call_tool(SHOP[1], {})).is_error
            assert text(await client.call_tool(BOARD[0], {"text": "milk"})) == "noted milk"
            large = "\u00e9" * 6_000_000  # over the limit of one command, in both directions
            assert text(await client.call_tool(BOARD[0], {"text": large})) == f"noted {large}"
            assert (await client.call_tool(BOARD[3], {})).is_error
            await client.call_tool(BOARD[2], {})
            await client.call_tool(SHOP[3], {})
            with pytest.raises(MCPError) as caught:
                await client.call_tool(BOARD[1], {})  # for 10 s
            assert caught.value.error.data["reason"] == "RequestTimeout"
        more = ("website_tool_board_localhost_tab1_late", "website_tool_shop_localhost_tab1_more")
        await has(client, *SHOP, *BOARD, *more)
        calling = asyncio.ensure_future(client.call_tool(SHOP[2], {}))
        await happens(lambda: _is_in(log, "'wait' is executed"))
        [process, *_] = processes_with(str(tmp_path / "profile"))
        os.killpg(os.getpgid(process), signal.SIGKILL)
        with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as caught:
            await calling
        assert caught.value.error.data["reason"] == "TabClosed"
        # The browser starts again for a tool that its page lets be cached.
        cached = "website_tool_shop_localhost_cart"
        await has(client, cached)
        with anyio.fail_after(PATIENCE):
            assert text(await client.call_tool(cached, {})) == "an empty cart"
        await has(client, *(name.replace("tab1", "tab2") for name in SHOP))
    lines = log.read_text()
    assert "milk" not in lines
    assert "evil" not in lines
    await happens(lambda: _no_processes(tmp_path))


async def _is_in(log: Path, words: str) -> bool:
    return words in await anyio.Path(log).read_text()


async def _no_processes(profile: Path) -> bool:
    return not processes_with(str(profile / "profile"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_hub_that_ends_takes_its_browser_along(site: Site, tmp_path: Path, number: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *(site.shop(), "--headless", "--profile", str(tmp_path / "profile")),
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    async def is_there() -> bool:
        return bool(processes_with(str(tmp_path / "profile")))

    await happens(is_there)
    process.send_signal(number)
    with anyio.fail_after(PATIENCE):
        _, errors = await process.communicate()
    assert b"Traceback" not in errors
    assert process.returncode == (0 if number == signal.SIGTERM else -number)
    await happens(lambda: _no_processes(tmp_path))


@asynccontextmanager
async def user_browser(folder: Path) -> AsyncIterator[tuple[BrowserContext, str]]:
    """Run a Chromium of a user; yield its tabs, and the address of its DevTools."""
    launched = launch_options(ensure_chromium())
    launched["args"] = [*launched["args"], "--remote-debugging-port=0", "--enable-features=WebMCP"]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(str(folder), headless=True, **launched)
        port = (folder / "DevToolsActivePort").read_text().splitlines()[0]
        yield context, f"http://127.0.0.1:{port}"
        await context.close()


@asynccontextmanager
async def attached(address: str, *options: str) -> AsyncIterator[str]:
    """Run a hub over HTTP that is attached to a browser; yield its address."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("--attach", address, "--http", "--port", "0", *options),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    with anyio.fail_after(PATIENCE):
        line = await process.stdout.readline()
    try:
        yield line.decode().strip()
    finally:
        process.terminate()
        with anyio.fail_after(PATIENCE):
            _, errors = await process.communicate()
    assert b"Traceback" not in errors, errors.decode()
    assert process.returncode == 0


async def opened(context: BrowserContext, url: str) -> Page:
    page = await context.new_page()
    await page.goto(url)
    await page.wait_for_function("document.title === 'Served'")
    return page


async def test_tabs_of_a_browser_that_runs_already(site: Site, tmp_path: Path) -> None:
    async with user_browser(tmp_path) as (context, devtools):
        before = await opened(context, site.shop())
        async with (
            attached(devtools, "--site", site.origin("shop"), "--site", site.origin("board")) as address,
            Client(address, mode="legacy", cache=None) as one,
            Client(address, cache=None) as other,
        ):
            await has(one, *SHOP)  # also a page that was there before
            second = await opened(context, site.shop())
            evil = await opened(context, site.shop("evil"))
            tab2 = [name.replace("tab1", "tab2") for name in SHOP]
            await has(one, *SHOP, *tab2)
            await has(other, *SHOP, *tab2)
            assert text(await other.call_tool(tab2[0], {"a": 1, "b": 1})) == "2"

            # A reload in mid-call.
            calling = asyncio.ensure_future(one.call_tool(SHOP[2], {}))
            await before.wait_for_function("() => true")
            assert text(await other.call_tool(SHOP[0], {"a": 1, "b": 2})) == "3"
            await before.reload()
            with anyio.fail_after(PATIENCE):
                [left] = await asyncio.gather(calling, return_exceptions=True)
            if isinstance(left, MCPError):
                assert left.error.data["reason"] == "TabClosed"
            else:
                assert left.is_error  # the page's own answer, as it was left
            await has(one, *SHOP, *tab2)
            assert text(await one.call_tool(SHOP[0], {"a": 2, "b": 2})) == "4"

            await second.goto(site.board())
            await has(one, *SHOP, *BOARD)
            assert await second.evaluate("document.documentElement.dataset.polyfill") == "false"  # Chromium's own
            assert text(await one.call_tool(BOARD[0], {"text": "tea"})) == "noted tea"
            assert (await one.call_tool(BOARD[3], {})).is_error
            calling = asyncio.ensure_future(one.call_tool(BOARD[1], {}))
            await one.call_tool(BOARD[2], {})
            await has(one, *SHOP, *BOARD, BOARD[0].replace("note", "late"))

            # Back to the page before, which may come from the browser's cache for that.
            await second.go_back()
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
                await calling
            await has(one, *SHOP, *tab2)
            assert text(await one.call_tool(tab2[0], {"a": 2, "b": 2})) == "4"

            # A tab that is closed in mid-call.
            calling = asyncio.ensure_future(one.call_tool(tab2[2], {}))
            assert text(await other.call_tool(tab2[0], {"a": 1, "b": 2})) == "3"
            await second.close()
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
                await calling
            await has(one, *SHOP)
            # A page that crashes in mid-call.
            third = await opened(context, site.shop())
            tab3 = [name.replace("tab1", "tab3") for name in SHOP]
            await has(one, *SHOP, *tab3)
            calling = asyncio.ensure_future(one.call_tool(tab3[2], {}))
            assert text(await other.call_tool(tab3[0], {"a": 3, "b": 3})) == "6"
            with suppress(Error):
                await third.goto("chrome://crash")
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
                await calling
            await has(one, *SHOP)
            assert not await evil.evaluate("mcpb.posted.filter(each => each.direction === 'client-to-server').length")
        # Nothing of the user's is closed.
        assert await before.evaluate("1 + 1") == 2
        assert {page.url for page in context.pages} >= {site.shop(), site.shop("evil")}


async def test_the_user_is_asked(site: Site, tmp_path: Path) -> None:
    async with user_browser(tmp_path) as (context, devtools):
        await opened(context, site.shop())
        async with attached(devtools, "--ask") as address, Client(address, cache=None) as client:
            await has(client, *SHOP)
            for choice, allowed in (("Deny", False), ("Allow once", True), ("Always allow this site", True)):
                async with context.expect_page() as opening:
                    calling = asyncio.ensure_future(client.call_tool(SHOP[0], {"a": 2, "b": 3}))
                asking = await opening.value
                await asking.wait_for_selector("#origin:has-text('localhost')")
                assert await asking.inner_text("#origin") == site.origin("shop")
                assert json.loads(await asking.inner_text("#arguments")) == {"a": 2, "b": 3}
                assert await asking.get_by_role("button", name=choice, exact=True).count() == 1
                with suppress(Error):  # the hub closes the page, which may be before the click has returned
                    await asking.get_by_role("button", name=choice, exact=True).click()
                with anyio.fail_after(PATIENCE):
                    if allowed:
                        assert text(await calling) == "5"
                    else:
                        with pytest.raises(MCPError) as caught:
                            await calling
                        assert caught.value.error.data["reason"] == "CallDenied"
            assert text(await client.call_tool(SHOP[0], {"a": 1, "b": 3})) == "4"
