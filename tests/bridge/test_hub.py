"""`mcpframe hub` as a program: a Chromium of its own, and one that runs already, with the pages of npm's packages."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, Error, Page, expect

from mcpframe.hub.core.limits import REQUEST_SECONDS
from tests.bridge.hub_pages import Site, has_waits, hub_site
from tests.bridge.hub_programs import (
    BOARD,
    COMMAND,
    SHOP,
    has,
    http_hub,
    in_tab,
    no_browser_left,
    text,
    user_browser,
)
from tests.bridge.programs import INITIALIZE, PATIENCE, ROOT, environment, processes_with
from tests.support.polling import until
from tests.support.suites import extended
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled, failed

BOOK = "website_tool_board_localhost_tab1_book"
FORM = """() => document.body.insertAdjacentHTML("beforeend",
    '<form toolname="book" tooldescription="Book a table"><input name="who"><button>Book</button></form>')"""
ENABLED_AT_FOCUS = """() => {
    dispatchEvent(new Event("focus"));
    return [...document.querySelectorAll("button")].filter(({ disabled }) => !disabled).map(each => each.textContent);
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("site")) as served:
        yield served


@pytest.mark.parametrize("mode", [extended("legacy"), "auto"])
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
        hanging = asyncio.ensure_future(client.call_tool(BOARD[1], {}))
        with anyio.fail_after(PATIENCE):
            assert text(await client.call_tool(SHOP[0], {"a": 2, "b": 3})) == "5"
            assert (await client.call_tool(SHOP[1], {})).is_error
            assert text(await client.call_tool(BOARD[0], {"text": "milk"})) == "noted milk"
            large = "\u00e9" * 6_000_000  # over the limit of one command, in both directions
            assert text(await client.call_tool(BOARD[0], {"text": large})) == f"noted {large}"
            with pytest.raises(MCPError, match="too large") as caught:
                await client.call_tool(BOARD[0], {"text": large * 2})
            assert caught.value.error.data == {"reason": "InvalidArguments"}
            assert (await client.call_tool(BOARD[3], {})).is_error
            await client.call_tool(BOARD[2], {})
            await client.call_tool(SHOP[3], {})
            with pytest.raises(MCPError) as caught:
                await hanging  # for 10 s
            assert caught.value.error.data["reason"] == "RequestTimeout"
        more = ("website_tool_board_localhost_tab1_late", "website_tool_shop_localhost_tab1_more")
        await has(client, *SHOP, *BOARD, *more)
        calling = asyncio.ensure_future(client.call_tool(SHOP[2], {}))
        await until(lambda: _is_in(log, "'wait' is executed"), PATIENCE, pause=0.05)
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
        await has(client, *in_tab(2, SHOP))
    lines = log.read_text()
    assert "milk" not in lines
    assert "evil" not in lines
    await no_browser_left(tmp_path / "profile")


async def _is_in(log: Path, words: str) -> bool:
    return words in await anyio.Path(log).read_text()


@pytest.mark.parametrize("end", [signal.SIGKILL, *map(extended, (signal.SIGTERM, "the client", "its output"))])
async def test_a_hub_that_ends_in_mid_call_takes_its_browser_along(site: Site, tmp_path: Path, end: object) -> None:
    profile, log = tmp_path / "profile", tmp_path / "calls.log"
    log.touch()
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *(site.shop(), "--headless", "--profile", str(profile), "--log", str(log)),
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    await until(lambda: _is_in(log, "registers"), PATIENCE, pause=0.05)
    calls = {"initialize": INITIALIZE, "tools/call": {"name": SHOP[2], "arguments": {}}}
    for id_, (method, params) in enumerate(calls.items()):
        line = json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        process.stdin.write(line.encode() + b"\n")
    await until(lambda: _is_in(log, "'wait' is executed"), PATIENCE, pause=0.05)
    if isinstance(end, signal.Signals):
        process.send_signal(end)
    elif end == "the client":
        process.stdin.close()
    else:
        process.stdout._transport.close()  # type: ignore[attr-defined]
        process.stdin.write(b"{}\n")  # is answered with an error, which nobody reads
    with anyio.fail_after(PATIENCE):
        _, errors = await process.communicate()
    assert b"Traceback" not in errors
    assert process.returncode == (-end if end == signal.SIGKILL else 0)
    await no_browser_left(profile)


async def opened(context: BrowserContext, url: str) -> Page:
    page = await context.new_page()
    await page.goto(url)
    await page.wait_for_function("document.title === 'Served'")
    return page


@pytest.mark.extended
async def test_tabs_of_a_browser_that_runs_already(site: Site, tmp_path: Path) -> None:
    async with user_browser(tmp_path) as (context, devtools):
        before = await opened(context, site.shop())
        sites = [f"--site={site.origin(name)}" for name in ("shop", "board")]
        async with (
            http_hub("--attach", devtools, *sites) as hub,
            Client(hub.address, mode="legacy", cache=None) as one,
            Client(hub.address, cache=None) as other,
            Client(hub.address, mode="2026-07-28", extensions=[TakesTasks()], cache=None) as taking,
        ):
            await has(one, *SHOP)  # also a page that was there before
            second = await opened(context, site.shop())
            evil = await opened(context, site.shop("evil"))
            tab2 = in_tab(2, SHOP)
            await has(one, *SHOP, *tab2)
            await has(other, *SHOP, *tab2)
            assert text(await other.call_tool(tab2[0], {"a": 1, "b": 1})) == "2"

            # A reload in mid-call.
            calling = asyncio.ensure_future(one.call_tool(SHOP[2], {}))
            await has_waits(before, 1)
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
            # A form waits for its user, and the hub says so long before a call would time out.
            await second.evaluate(FORM)
            await has(one, *SHOP, *BOARD, BOOK)
            with anyio.fail_after(REQUEST_SECONDS / 2):
                assert "waits for the user" in text(await one.call_tool(BOOK, {"who": "Ada"}))
            assert await second.input_value("[name=who]") == "Ada"
            await second.evaluate("document.forms[0].remove()")
            await has(one, *SHOP, *BOARD)
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
            await has_waits(second, 1)
            assert text(await other.call_tool(tab2[0], {"a": 1, "b": 2})) == "3"
            tasks = TaskClient(taking)
            with anyio.fail_after(PATIENCE):
                handles = await asyncio.gather(tasks.begin(SHOP[2]), tasks.begin(tab2[2]))
                task, lost = (handle["taskId"] for handle in handles)
                await tasks.ask("tasks/cancel", task)
                await tasks.until(task, cancelled)
                assert (await tasks.ask("tasks/get", lost))["status"] == "working"
            await second.close()
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
                await calling
            with anyio.fail_after(PATIENCE):
                assert "ended" in (await tasks.until(lost, failed))["statusMessage"]
            await has(one, *SHOP)
            # A page that crashes in mid-call.
            third = await opened(context, site.shop())
            tab3 = in_tab(3, SHOP)
            await has(one, *SHOP, *tab3)
            calling = asyncio.ensure_future(one.call_tool(tab3[2], {}))
            await has_waits(third, 1)
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
        async with http_hub("--attach", devtools, "--ask") as hub, Client(hub.address, cache=None) as client:
            await has(client, *SHOP)
            for choice, allowed in (("Deny", False), ("Allow once", True), ("Always allow this site", True)):
                async with context.expect_page() as opening:
                    calling = asyncio.ensure_future(client.call_tool(SHOP[0], {"a": 2, "b": 3}))
                asking = await opening.value
                await asking.wait_for_selector("#origin:has-text('localhost')")
                shown = site.origin("shop")
                assert await asking.inner_text("#origin") == f"{shown} (shop.localhost in names)"  # which lack the port
                assert "program" in await asking.inner_text("#client")
                assert await asking.inner_text("#name")
                assert json.loads(await asking.inner_text("#arguments")) == {"a": 2, "b": 3}
                await expect(asking.get_by_role("button", name=choice, exact=True)).to_be_enabled()
                assert await asking.evaluate(ENABLED_AT_FOCUS) == ["Deny"]  # another window may have covered it
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
