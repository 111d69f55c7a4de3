"""Malformed, oversized and poisoned messages of the framed page itself: each is refused, and the session goes on."""

from playwright.async_api import Page

from tests.browser.conftest import Origins
from tests.browser.outers import JavaScriptOuter
from tests.contract.messages import *  # noqa: F403  the tests for every window
from tests.contract.outer import Outer
from tests.contract.playing import heard


async def test_a_message_that_no_json_can_spell_reaches_nobody(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner", limits={"max_message_bytes": 100_000})
    frame = await outer.inner()
    for oddity in ("cyclic", "map", "bigint"):
        await frame.evaluate("name => parent.postMessage(oddities[name](), '*')", oddity)
    assert (await outer.call(still="here"))["result"] == {"still": "here"}
    assert "received" not in await outer.rest()


UNSPELLABLE = {
    "sparse": "MessageTooLarge",
    "endless": "MessageTooLarge",
    "self": "MalformedMessage",
    "number": "MalformedMessage",
    "surrogate": "MalformedMessage",
}


async def test_a_request_that_no_json_can_spell_is_answered_with_an_error(outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    frame = await outer.inner()
    count = len(await frame.evaluate("heard"))
    for name, error in UNSPELLABLE.items():
        await frame.evaluate("name => parent.postMessage(oddities[name](), '*')", name)
        assert (await outer.next("refused"))["error"] == error
        count += 1
        answer = (await heard(frame, count))[-1]["data"]["payload"]
        assert (answer["id"], answer["error"]["code"]) == (name, -32600)
    assert (await outer.call(still="here"))["result"] == {"still": "here"}
    assert await outer.rest() == []


async def test_a_small_message_that_is_endless_inside_is_refused_quickly(host_page: Page, origins: Origins) -> None:
    """A structured clone may share its parts: 60 levels of two references each are 2**60 objects when walked."""
    async with JavaScriptOuter(host_page) as outer:
        await outer.open(f"{origins.bundle}/page.html?inner", limits={"max_message_bytes": 1_000_000})
        await (await outer.inner()).evaluate("parent.postMessage(oddities.shared(), '*')")
        assert (await outer.next("refused"))["error"] == "MessageTooLarge"
        assert (await outer.call(still="here"))["result"] == {"still": "here"}
