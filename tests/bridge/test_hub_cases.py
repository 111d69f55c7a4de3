"""The templates for hubs, each in two tabs of a user's browser, with a Python client over stdio and others over HTTP.

Two hubs are attached to the browser, one for each client.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import Page, expect

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.hub_programs import (
    COMMAND,
    has,
    http_hub,
    in_tab,
    no_browser_left,
    text,
    typescript_clients,
    user_browser,
)
from tests.bridge.programs import PATIENCE, ROOT, environment

expect.set_options(timeout=PATIENCE * 1000)  # Playwright's own 5 s are little where the machine is busy
INSPECT = [sys.executable, "-m", "mcpframe", "inspect"]
SHOP = [f"website_tool_shop_localhost_tab1_{name}" for name in ("find_products", "add_to_cart", "view_cart")]
CART = [f"website_tool_shop_localhost_tab1_{name}" for name in ("set_quantity", "check_out")]
BOARD = [f"website_tool_board_localhost_tab1_{name}" for name in ("list_notes", "add_note")]
NOTES = [f"website_tool_board_localhost_tab1_{name}" for name in ("edit_note", "move_note", "remove_note")]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port at which the built templates are served."""
    folder = tmp_path_factory.mktemp("site")
    for name, snapshot in (("shop", True), ("notes-board", False)):  # a page that starts fast, and one that does not
        assert build(templates_dir() / name, folder, snapshot=snapshot).warnings == ()
    with serve_folder(folder) as served:
        yield served.port


@pytest.mark.extended
async def test_two_tabs_of_a_shop_and_two_of_a_board(port: int, tmp_path: Path) -> None:
    shop, board = f"http://shop.localhost:{port}", f"http://board.localhost:{port}"
    sites = ["--site", shop, "--site", board]
    async with user_browser(tmp_path) as (context, devtools), http_hub("--attach", devtools, *sites) as hub:
        server = StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], "--attach", devtools, *sites], env=environment(), cwd=ROOT
        )
        async with (
            Client(stdio_client(server), cache=None) as python,
            typescript_clients(hub.address, "modern", "sdk1") as typescript,
        ):
            open_tools: list[str] = []

            async def are_offered(*tools: str) -> None:
                await has(python, *tools)
                await typescript.have(*tools)

            async def opened(url: str, *tools: str) -> Page:
                page = await context.new_page()
                await page.goto(url)
                open_tools.extend(tools)
                await are_offered(*open_tools)
                return page

            async def call(tool: str, **arguments: Any) -> Any:
                with anyio.fail_after(PATIENCE):
                    result = await python.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result

            first = await opened(f"{shop}/shop/", *SHOP)
            second = await opened(f"{shop}/shop/", *in_tab(2, SHOP))
            board_1 = await opened(f"{board}/notes-board/", *BOARD)
            board_2 = await opened(f"{board}/notes-board/", *in_tab(2, BOARD))

            # Into the cart of the right tab, and only there.
            _, add, view = in_tab(2, SHOP)
            change, check_out = in_tab(2, CART)
            added = await call(add, product="assam", quantity=2)
            assert added.structured_content["total"] == 1380
            await are_offered(*open_tools, change, check_out)
            await expect(second.get_by_role("list", name="Cart")).to_contain_text("Assam")
            await expect(second.get_by_role("status")).to_contain_text("Added 2 Assam")
            await expect(first.get_by_text("Nothing in it yet")).to_be_visible()
            assert (await call(SHOP[2])).structured_content == {"lines": [], "total": 0}
            changed = await typescript.call("modern", change, product="assam", quantity=1)
            assert changed["result"]["structuredContent"]["total"] == 690

            # What the person does changes the tools as well.
            await first.get_by_role("button", name="Add Sencha").click()
            await are_offered(*open_tools, *CART, change, check_out)
            await first.get_by_role("button", name="One less Sencha").click()
            await are_offered(*open_tools, change, check_out)

            # A reload in mid-call: nothing was bought, and the cart is still there.
            calling = asyncio.ensure_future(python.call_tool(check_out, {}))
            await expect(second.get_by_role("dialog")).to_contain_text("Assam")
            await second.reload()
            with anyio.fail_after(PATIENCE):
                [left] = await asyncio.gather(calling, return_exceptions=True)
            if isinstance(left, MCPError):
                assert left.error.data["reason"] == "TabClosed"
            else:
                assert left.is_error  # the page's own answer, as it was left
            assert (await call(view)).structured_content["total"] == 690
            await are_offered(*open_tools, change, check_out)
            _, buying = typescript.calling("sdk1", check_out)
            await second.get_by_role("dialog").get_by_role("button", name="Buy").click()
            with anyio.fail_after(PATIENCE):
                assert (await buying)["result"]["content"][0]["text"] == "Ordered for € 6.90."
            await are_offered(*open_tools)

            # All tabs of the board have the same notes.
            await call(BOARD[1], text="Buy milk")
            await are_offered(*open_tools, *NOTES, *in_tab(2, NOTES))
            move = in_tab(2, NOTES)[1]
            assert "error" not in await typescript.call("modern", move, note=1, column="Done")
            for page in (board_1, board_2):
                await expect(page.get_by_role("list", name="Done")).to_contain_text("Buy milk")
            await board_1.get_by_role("listitem").filter(has_text="Buy milk").press("ArrowLeft")
            await expect(board_2.get_by_role("list", name="Doing")).to_contain_text("Buy milk")
            await board_2.get_by_role("listitem").filter(has_text="Buy milk").press("ArrowRight")
            await expect(board_1.get_by_role("list", name="Done")).to_contain_text("Buy milk")

            # A tab that is closed, the last one of its site, and one that a cached tool brings back.
            calling = asyncio.ensure_future(python.call_tool(CART[1], {}))
            with anyio.fail_after(PATIENCE), suppress(MCPError):
                assert (await calling).is_error  # the cart is empty
            await board_1.close()
            await are_offered(*SHOP, *in_tab(2, SHOP), *in_tab(2, [*BOARD, *NOTES]))
            await board_2.close()
            await first.close()
            cached = "website_tool_board_localhost_list_notes"
            await are_offered(*in_tab(2, SHOP), cached)
            async with context.expect_page() as opening:
                _, listing = typescript.calling("modern", cached)
            with anyio.fail_after(PATIENCE):
                answer = await listing
            assert "Buy milk" in str(answer["result"]["structuredContent"]), answer
            await opening.value
            again = context.pages[-1]  # one whose process crashes while it loads is closed, and opened again
            await expect(again.get_by_role("list", name="Done")).to_contain_text("Buy milk")
            await are_offered(*in_tab(2, SHOP), *in_tab(3, [*BOARD, *NOTES]))
            assert "Buy milk" in text(await call(in_tab(3, BOARD)[0]))


async def upgraded(host: str, port: int, origin: str) -> int:
    """Ask for the inspector's socket as a page of an origin does, and return the status of the answer."""
    with anyio.fail_after(PATIENCE):
        async with await anyio.connect_tcp(host, port) as stream:
            head = (
                f"GET /hub/socket HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                "\r\n"
            )
            await stream.send(head.encode())
            return int((await stream.receive()).split()[1])


@pytest.mark.extended
async def test_the_inspector_of_the_hub(port: int, tmp_path: Path) -> None:
    shop = f"http://shop.localhost:{port}/shop/"
    process = await asyncio.create_subprocess_exec(
        *(
            *INSPECT,
            "--hub",
            shop,
            shop,
            str(templates_dir() / "shop"),
            "--headless",
            "--no-open",
            "--profile",
            str(tmp_path / "profile"),
        ),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    printed: list[str] = []
    with anyio.fail_after(PATIENCE):
        while not (printed and printed[-1].startswith("inspector")):
            printed.append((await process.stdout.readline()).decode())
            assert printed[-1], "it has ended"
    address = printed[-1].split()[1]
    hub = unquote(address.partition("#add=")[2].partition("&")[0])
    try:
        async with user_browser(tmp_path / "user") as (context, _):
            page = await context.new_page()
            await page.goto(address)
            server = page.get_by_role("region", name="Hub", exact=True)
            tool = server.get_by_role("button", name=in_tab(2, SHOP)[1])
            await tool.click()  # which waits until it is listed
            await expect(server.get_by_role("button", name=CART[1])).to_have_count(0)
            project = re.compile(
                r"^website_tool_localhost_\d+_tab1_view_cart\b"
            )  # built, and served at a port of its own
            await expect(server.get_by_role("button", name=project)).to_be_visible()
            await server.get_by_role("button", name="Show page", exact=True).click()
            await server.get_by_role("textbox", name="product").fill("oolong")
            await server.get_by_role("button", name="Call", exact=True).click()
            await expect(server.get_by_role("region", name="Result")).to_contain_text("Added 1 Oolong")
            await expect(server.get_by_role("button", name=in_tab(2, CART)[1])).to_be_visible()  # the list has changed
            await expect(server.get_by_role("button", name=CART[1])).to_have_count(0)
            log = server.frame_locator("iframe").get_by_role("list", name="Log")
            await expect(log).to_contain_text("Tool 'add_to_cart' is executed by shop.localhost, tab 2.")

            # Nobody else uses it.
            parts = urlsplit(hub)
            for origin, status in ((f"http://shop.localhost:{port}", 403), (f"{parts.scheme}://{parts.netloc}", 101)):
                assert await upgraded(parts.hostname or "", parts.port or 0, origin) == status
            answered = await context.request.get(hub, headers={"host": "rebound.example"})
            assert answered.status == 400
            policy = (await context.request.get(hub)).headers["content-security-policy"]
            assert f"frame-ancestors {urlsplit(address).scheme}://{urlsplit(address).netloc}" in policy

            process.terminate()
            await expect(log).to_contain_text("The hub has ended")
        with anyio.fail_after(PATIENCE):
            _, errors = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 0
    assert b"Traceback" not in errors
    await no_browser_left(tmp_path / "profile")
