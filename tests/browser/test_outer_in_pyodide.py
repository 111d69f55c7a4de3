"""The outer frame in Pyodide: a bundle's page that frames others itself, as iframes and as popups."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from mcp import Client
from playwright.async_api import Page, expect

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, new_context


@pytest.fixture(scope="session")
def hosting(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/hosting`."""
    return bundle_of("hosting")


@pytest.fixture(scope="module")
async def outer_page(origins: Origins, browser: Any) -> AsyncIterator[Page]:
    """A page of the host's."""
    async with new_context(browser) as (context, troubles):
        troubles.expect("does not match the recipient window's origin")
        page = await context.new_page()
        await page.goto(f"{origins.host}/page.html")
        yield page


@pytest.fixture(scope="module")
async def client(hosting: Bundle, outer_page: Page) -> AsyncIterator[Client]:
    """A client of that bundle, which is framed there."""
    outer = OuterFrame(hosting.url, sandbox="popups", options=Options(handshake_timeout=BOOT_PATIENCE))
    async with Client(outer.connect(PlaywrightPlace(outer_page), visible=True)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    with anyio.fail_after(60):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content = result.structured_content
    return content["result"] if content and set(content) == {"result"} else content


@pytest.mark.parametrize("popup", [False, True], ids=["iframe", "popup"])
async def test_both_phases(client: Client, origins: Origins, popup: bool) -> None:
    got = await call(client, "set_up_and_call", url=f"{origins.stranger}/page.html?inner", popup=popup)
    assert got["title"] == "A page"
    assert got["answer"] == {"jsonrpc": "2.0", "id": "one", "result": {"text": "Ünïcödé 🐍"}}
    assert got["left"] == 0
    phases = ["SetupStarted", "SetupCompleted", "Closed", "Opened"]
    shown = [] if popup else ["VisibilityChanged"] * 2
    assert got["events"] == [*phases, *shown, "Closed"]
    assert got["shown"] == ([] if popup else [True, False])
    if not popup:
        assert got["attributes"] == {
            "sandbox": "allow-scripts allow-same-origin allow-forms allow-downloads",
            "allow": "",
            "title": origins.stranger,
        }


async def test_a_prepared_page_is_the_one_that_is_used(client: Client, outer_page: Page, origins: Origins) -> None:
    url = f"{origins.stranger}/page.html?inner"
    used = {"hidden": True, "is_it": True, "answer": {"text": "prepared"}, "left": False}
    assert await call(client, "prepared", url=url) == used
    opened = anyio.Event()
    outer = OuterFrame(url, on_event=lambda _: opened.set())
    place = PlaywrightPlace(outer_page)
    with anyio.fail_after(60):
        async with outer.prepare(place):
            await opened.wait()
            [frame] = [frame for frame in outer_page.frames if frame.url == url]
            async with outer.connect(place, visible=True) as (read, write):
                assert await (await frame.frame_element()).is_visible()
                await write.send(SdkMessages().read({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": 1}}))
                answer: Any = await read.receive()
                assert answer.message.result == {"a": 1}
            await expect(outer_page.locator("iframe")).to_have_count(1)  # the client's


async def test_permissions_are_granted_by_name(client: Client, origins: Origins) -> None:
    url = f"{origins.stranger}/page.html?inner&ask=camera&ask=microphone"
    got = await call(client, "permissions", url=url, grants=["camera", "microphone"])
    assert got == {"asked": ["camera", "microphone"], "allowed": ["camera; microphone"], "error": None, "left": 0}
    got = await call(client, "permissions", url=url, grants=["camera"])
    assert got == {"asked": ["camera", "microphone"], "allowed": [], "error": "PermissionsDenied", "left": 0}


@pytest.mark.parametrize("how", ["removed", "moved", "reloaded", "closed"])
async def test_a_page_that_is_lost_in_mid_call_fails_the_call_and_can_be_framed_again(
    client: Client, origins: Origins, how: str
) -> None:
    got = await call(client, "lose", url=f"{origins.stranger}/page.html?inner", how=how)
    assert got["failed"]["error"]["code"] == -32000
    assert "session is over" in got["failed"]["error"]["message"]
    assert got["answer"]["result"] == {"text": "again"}


async def test_a_page_that_is_moved_before_it_has_loaded_is_lost(
    client: Client, origins: Origins, outer_page: Page
) -> None:
    """Then there are no two load events to tell it by."""
    await outer_page.route("**/never.png", lambda route: None)
    got = await call(client, "lose", url=f"{origins.stranger}/stuck.html?inner", how="moved")
    assert "session is over" in got["failed"]["error"]["message"]


async def test_a_server_outside_and_a_client_inside(client: Client, origins: Origins) -> None:
    assert await call(client, "serve_client", url=f"{origins.stranger}/page.html?client") == "Hello, the page"


async def test_a_framed_client_that_never_initializes_is_served(
    client: Client, origins: Origins, resumed_client: None
) -> None:
    answer = await call(client, "serve_client", url=f"{origins.stranger}/resumed.html?client")
    assert answer == "Hello, greet,done after tools/list,tools/call"


async def test_fifty_at_once(client: Client, origins: Origins) -> None:
    got = await call(client, "many", url=f"{origins.stranger}/page.html?inner", count=50)
    assert got == [str(number) for number in range(50)]


@pytest.mark.parametrize(
    ("url", "selector", "hint"),
    [
        ("data:text/html,hi", "body", "OriginError"),
        ("javascript:alert(1)", "body", "OriginError"),
        ("http://user:secret@stranger.localhost/", "body", "OriginError"),
        ("http://stranger.localhost/", "#nowhere", "no element '#nowhere'"),
    ],
)
async def test_what_cannot_be_framed(client: Client, url: str, selector: str, hint: str) -> None:
    assert hint in await call(client, "refused", url=url, selector=selector)
