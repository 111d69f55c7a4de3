"""Who watches the wire is told of every message that is sent, received or refused, and nothing of a stranger's."""

import json

import anyio
from playwright.async_api import Page

from tests.browser.by_hand import framed
from tests.browser.conftest import Origins
from tests.browser.test_contract_strangers import bombard
from tests.contract.outer import PATIENCE, Outer
from tests.contract.wire import *  # noqa: F403  the tests for every window
from tests.contract.wire import begun, told


async def test_of_a_stranger_only_the_origin_is_told(host_page: Page, outer: Outer, origins: Origins) -> None:
    await begun(outer, f"{origins.bundle}/page.html?inner")
    before = len(await outer.wires())
    sibling = await framed(host_page, f"{origins.stranger}/page.html?sibling")
    await bombard(sibling, "parent", host_page)
    assert (await outer.call(99, still="here"))["result"] == {"still": "here"}
    heard = [wire for wire in (await outer.wires())[before:] if wire["origin"] == origins.stranger]
    assert len(heard) > 5
    for wire in heard:
        reason = "Sent by a window other than the peer."
        assert wire == told("received", None, origins.stranger, reason)


async def test_a_page_of_another_origin_in_the_frame_is_told_unread(
    host_page: Page, outer: Outer, origins: Origins
) -> None:
    await outer.watch()
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await frame.goto(f"{origins.stranger}/page.html?elsewhere")
    await bombard(frame, "parent", host_page)
    await outer.next("refused")
    with anyio.fail_after(PATIENCE):
        while len(wires := await outer.wires()) <= 5:  # every one of them, not once per origin as the error hook
            await host_page.evaluate("0")  # Python hears of them later than the page
    assert {json.dumps(wire) for wire in wires} == {
        json.dumps(told("received", None, origins.stranger, "Not from an allowed origin."))
    }
    assert len(wires) > 5
