"""The setup phase, popups, permissions and visibility, for both outer frames, with pages that a test plays by hand.

Framed pages are of the host's site: Playwright's driver trips over frames that change process back and forth so fast.
"""

from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, Route

from tests.browser.conftest import PAGES, Origins, Troubles
from tests.contract.outer import Outer
from tests.contract.playing import POLL, heard, say
from tests.contract.setup import *  # noqa: F403  the tests for every window
from tests.contract.setup import CAMERA, CLIPBOARD, COMPLETE, HANDSHAKE


async def attributes(page: Page) -> dict[str, Any]:
    result: dict[str, Any] = await page.evaluate(
        """() => {
            const iframe = document.querySelector("iframe");
            const { sandbox, allow } = iframe;
            return { sandbox: sandbox.value, allow, shown: getComputedStyle(iframe).display !== "none" };
        }"""
    )
    return result


async def test_a_setup_and_then_a_session_with_the_same_id(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html#setup,dark")
    frame = await outer.framed()
    assert await frame.evaluate("location.hash") == "#setup,dark"
    await say(frame, HANDSHAKE)
    (reply,) = await heard(frame, 1)
    assert reply["origin"] == origins.host
    assert reply["data"]["type"] == "MCP_SETUP_HANDSHAKE_REPLY"
    await say(frame, COMPLETE)
    done = await outer.next("set up")
    assert done == {
        "kind": "set up",
        "title": "Pi",
        "visibility": "optional",
        "visibilityMessage": "See the points",
        "ephemeralMessage": "Ready",
        "sessionId": reply["data"]["sessionId"],
    }
    await outer.go_on()
    frame = await outer.framed()
    assert await frame.evaluate("location.hash") == "#dark"
    assert await frame.evaluate("heard") == []
    await say(frame, {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"})
    (reply,) = await heard(frame, 1)
    assert reply["data"]["sessionId"] == done["sessionId"]
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": done["sessionId"]})
    assert (await outer.next("opened"))["sessionId"] == done["sessionId"]
    assert await outer.rest() == []


async def test_a_page_that_needs_to_be_seen_is_shown_for_its_setup_only(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    if (await attributes(outer.page))["shown"]:  # an iframe of the host's own is as the host has it
        await outer.show(False)
        assert (await outer.next("visible"))["visible"] is False
    await say(frame, {**HANDSHAKE, "requiresVisibleSetup": True})
    assert (await outer.next("visible"))["visible"] is True
    await outer.page.wait_for_function("() => getComputedStyle(document.querySelector('iframe')).display !== 'none'")
    await outer.show(False)
    assert (await outer.next("visible"))["visible"] is False
    await outer.page.wait_for_function("() => getComputedStyle(document.querySelector('iframe')).display === 'none'")
    await say(frame, COMPLETE)
    await outer.next("set up")


async def test_a_setup_can_be_given_up(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    await say(frame, HANDSHAKE)
    await heard(frame, 1)
    await outer.give_up()
    assert (await outer.next("setup failed"))["error"] == "AbortError"
    await outer.page.wait_for_function("() => !document.querySelector('iframe[src^=http]')")
    await outer.go_on()
    await outer.framed()


async def test_a_sign_in_elsewhere_comes_back_to_the_same_setup(outer: Outer, origins: Origins) -> None:
    """The page goes to another origin and comes back: what is there in between is not heard, and learns nothing."""
    await outer.set_up(f"{origins.bundle}/page.html")
    frame = await outer.framed()
    await say(frame, HANDSHAKE)
    (first,) = await heard(frame, 1)
    await frame.goto(f"{origins.stranger}/page.html?sign-in")
    await say(frame, HANDSHAKE)
    await say(frame, COMPLETE)
    assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
    assert await frame.evaluate("heard") == []
    await frame.goto(f"{origins.bundle}/page.html#setup")
    await say(frame, HANDSHAKE)
    (again,) = await heard(frame, 1)
    assert again == first
    await say(frame, COMPLETE)
    await outer.next("set up")


# Permissions


async def test_permissions_that_were_granted_are_allowed_each_in_its_phase(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", permissions=["camera", "clipboard-read"])
    frame = await outer.framed()
    assert (await attributes(outer.page))["allow"] == "camera; clipboard-read"
    await say(frame, {**HANDSHAKE, "requestedPermissions": [CAMERA, CLIPBOARD]})
    await heard(frame, 1)
    await say(frame, COMPLETE)
    await outer.next("set up")
    await outer.go_on()
    frame = await outer.framed()
    assert (await attributes(outer.page))["allow"] == "clipboard-read"
    allowed = await frame.evaluate(
        "['camera', 'clipboard-read'].map((name) => document.featurePolicy.allowsFeature(name))"
    )
    assert allowed == [False, True]


async def test_the_host_is_asked_and_the_page_loaded_anew(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", grants=["camera", "clipboard-read"])
    frame = await outer.framed()
    assert (await attributes(outer.page))["allow"] == ""
    await frame.evaluate("window.first = true")
    await say(frame, {**HANDSHAKE, "requestedPermissions": [CAMERA, CLIPBOARD]})
    assert (await outer.next("asked"))["requested"] == [CAMERA, CLIPBOARD]
    # Not clipboard-read, which is for the session.
    await outer.page.wait_for_selector("iframe[allow=camera][src^=http]", state="attached")
    frame = await outer.framed()
    await frame.wait_for_function("() => !window.first && typeof say === 'function'", polling=POLL)
    assert await frame.evaluate("heard") == []
    assert await frame.evaluate("document.featurePolicy.allowsFeature('camera')")
    await say(frame, {**HANDSHAKE, "requestedPermissions": [CAMERA, CLIPBOARD]})
    await heard(frame, 1)
    await say(frame, COMPLETE)
    await outer.next("set up")
    assert await outer.rest() == []


async def test_the_sandbox_is_the_standard_one(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    await outer.framed()
    assert (await attributes(outer.page))["sandbox"] == ("allow-scripts allow-same-origin allow-forms allow-downloads")


# Popups


async def set_up_in_popup(outer: Outer, origins: Origins) -> Page:
    """Run a setup in a popup to its end, and return that popup: the next one to be waited for is another."""
    async with outer.page.expect_popup() as opened:
        await outer.set_up(f"{origins.bundle}/page.html?inner", popup=True)
    popup = await opened.value
    assert (await outer.next("set up"))["title"] == "A page"
    return popup


async def test_a_popup_is_set_up_and_carries_a_session(outer: Outer, origins: Origins) -> None:
    first = await set_up_in_popup(outer, origins)
    if not first.is_closed():
        await first.wait_for_event("close")
    async with outer.page.expect_popup() as opened:
        await outer.go_on()
    popup = await opened.value
    assert (await outer.next("opened"))["origin"] == origins.bundle
    assert (await outer.call(text="from afar"))["result"] == {"text": "from afar"}
    assert await popup.evaluate("[innerWidth, innerHeight]") == [800, 600]
    names = {await popup.evaluate("window.name")}
    assert all(name.startswith("mcpframe-") and len(name) > 30 for name in names)
    assert {message["origin"] for message in await popup.evaluate("heard")} == {origins.host}
    assert await outer.rest() == []


async def test_closing_the_popup_ends_the_setup(outer: Outer, origins: Origins) -> None:
    async with outer.page.expect_popup() as opened:
        await outer.set_up(f"{origins.bundle}/page.html", popup=True)
    popup = await opened.value
    await popup.wait_for_function("() => typeof say === 'function'", polling=POLL)
    await say(popup.main_frame, HANDSHAKE)
    await heard(popup, 1)
    await popup.close()
    assert (await outer.next("setup failed"))["error"] == "PeerGone"


@pytest.mark.parametrize("reloads", [False, True], ids=["closed", "reloaded"])
async def test_the_end_of_a_popup_in_mid_call_fails_the_call_and_nobody_takes_over(
    outer: Outer, origins: Origins, reloads: bool
) -> None:
    await set_up_in_popup(outer, origins)
    async with outer.page.expect_popup() as opened:
        await outer.go_on()
    popup = await opened.value
    await outer.next("opened")
    await outer.send({"jsonrpc": "2.0", "id": "pending", "method": "silence"})
    # Later, as the answer of `evaluate` may be lost where the page leaves at once.
    await (popup.evaluate("() => { setTimeout(() => location.reload()) }") if reloads else popup.close())
    payload = (await outer.next("received"))["payload"]
    assert (payload["id"], payload["error"]["code"]) == ("pending", -32000)
    await outer.next("closed")


async def test_a_popup_that_goes_elsewhere_is_not_heard_and_learns_nothing(
    outer: Outer, origins: Origins, troubles: Troubles
) -> None:
    troubles.expect("does not match the recipient window's origin")
    await set_up_in_popup(outer, origins)
    async with outer.page.expect_popup() as opened:
        await outer.go_on()
    popup = await opened.value
    await outer.next("opened")
    elsewhere = f"{origins.stranger}/page.html?elsewhere"
    await popup.evaluate("url => { setTimeout(() => { location.href = url }) }", elsewhere)
    await popup.wait_for_url(elsewhere)
    await outer.send({"jsonrpc": "2.0", "id": "secret", "method": "echo"})
    await say(popup.main_frame, {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": "secret", "result": {}}})
    assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
    assert await popup.evaluate("heard") == []


async def test_a_popup_that_the_browser_blocks_is_said(
    context: BrowserContext, origins: Origins, outer_kind: type[Outer], troubles: Troubles
) -> None:
    """A sandboxed page may not open popups: a block as real as a blocker's."""
    troubles.expect("Blocked opening")
    page = await context.new_page()

    async def sandboxed(route: Route) -> None:
        headers = {"content-security-policy": "sandbox allow-scripts allow-same-origin"}
        await route.fulfill(path=PAGES / "host.html", headers=headers, content_type="text/html")

    await page.route("**/host.html", sandboxed)
    await page.goto(f"{origins.host}/host.html")
    await page.wait_for_function("() => window.lab")
    async with outer_kind(page) as outer:
        await outer.set_up(f"{origins.bundle}/page.html", popup=True)
        failed = await outer.next("setup failed")
        assert failed["error"] == "PopupBlocked"
        assert "click" in failed["message"]
