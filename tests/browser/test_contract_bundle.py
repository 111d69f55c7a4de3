"""The real bundle as the inner frame, in the hands of hosts that don't keep to the protocol.

The host pages are played by hand. Most tests end alike: a good host, or the same one behaving, still gets its answer.
"""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from playwright.async_api import BrowserContext, Page

from mcpframe.kit.web.serve import serve_folder
from tests.browser.by_hand import framed, loaded, newest_frame
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles, watched
from tests.browser.test_contract_messages import UNSPELLABLE
from tests.contract.playing import POLL, held

LOADER = "**/loader.*.js"
REPLY = {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": "the host's", "protocolVersion": "1.0"}
ACCEPTED = {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "the host's"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}


def mcp(payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": "MCP_MESSAGE", "payload": payload}


PING = {"jsonrpc": "2.0", "id": "last", "method": "ping"}
OPENINGS = ({**REPLY, "sessionId": "theirs"}, mcp(INITIALIZE), PING, INITIALIZE)
"""With which a session begins, in the SEP's form and in plain MCP."""


@dataclass
class Host:
    """A page around the bundle, or around another page around it, that a test plays by hand."""

    page: Page
    bundle: Bundle

    async def say(self, *messages: Any, target_origin: str | None = None) -> None:
        """Post to the framed bundle, all in one task of the page."""
        await self.page.evaluate(
            "([texts, origin]) => texts.forEach((text) => say(text, frames[0], origin))",
            [[json.dumps(message) for message in messages], target_origin or self.bundle.origin],
        )

    async def hears(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many messages of a type were heard, and give all of that type."""
        await self.page.wait_for_function(
            "([kind, count]) => heard.filter(({ data }) => data.type === kind).length >= count",
            arg=[kind, count],
            timeout=BOOT_PATIENCE * 1000,
        )
        messages: list[dict[str, Any]] = await self.page.evaluate("heard")
        assert {message["origin"] for message in messages} == {self.bundle.origin}
        return [message["data"] for message in messages if message["data"].get("type") == kind]

    async def heard_types(self) -> set[str]:
        """Return the types of all that was heard, but for the openings of other dialects."""
        messages = [message["data"] for message in await self.page.evaluate("heard")]
        openings = {"ui-lifecycle-iframe-ready", "ui-request-render-data", "mcp", "ui/initialize"}
        return {message.get("type") or message["method"] for message in messages} - openings

    async def works(self) -> None:
        """Open a session with a good reply, and get an answer."""
        await self.say(REPLY)
        assert await self.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
        await self.answers()

    async def answers(self) -> None:
        """Get an answer in the session that is open."""
        await self.say(mcp(INITIALIZE))
        (message,) = await self.hears("MCP_MESSAGE")
        assert message["payload"]["id"] == "first"
        assert message["payload"]["result"]["serverInfo"]["name"] == "everything"


@pytest.fixture(scope="module")
def bare(everything: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The same bundle on a server that lets any page frame it, and any sandbox load it."""
    folder = tmp_path_factory.mktemp("bare") / "bundles"
    shutil.copytree(everything.folder, folder, ignore=shutil.ignore_patterns("_headers"))
    with serve_folder(folder, headers={"Access-Control-Allow-Origin": "*"}) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", "everything/")


@pytest.fixture
def context(profile: BrowserContext, troubles: Troubles) -> BrowserContext:
    """That profile, watched."""
    return profile


@pytest.fixture
async def troubles(profile: BrowserContext) -> AsyncIterator[Troubles]:
    """The complaints of its pages in this test."""
    async with watched(profile) as troubles:
        yield troubles


async def framing(context: BrowserContext, origin: str, bundle: Bundle, fragment: str = "") -> Host:
    """Open a page of an origin and frame the bundle in it."""
    page = await context.new_page()
    await page.goto(f"{origin}/page.html")
    await page.evaluate("url => embed(url)", bundle.url + fragment)
    return Host(page, bundle)


@pytest.fixture
async def host(context: BrowserContext, origins: Origins, everything: Bundle) -> Host:
    """A page of the origin that may embed the bundle, with the bundle waiting for its reply in Python."""
    host = await framing(context, origins.host, everything)
    await host.hears("MCP_TRANSPORT_HANDSHAKE", 2)  # the first comes before Python runs: see test_inbox.py
    return host


async def test_the_handshake_tells_a_stranger_nothing_and_is_repeated(host: Host) -> None:
    handshakes = await host.hears("MCP_TRANSPORT_HANDSHAKE", 3)
    assert handshakes[:3] == [{"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}] * 3
    await host.works()


async def test_a_page_that_may_not_embed_it_cannot(
    context: BrowserContext, origins: Origins, everything: Bundle, troubles: Troubles
) -> None:
    troubles.expect("frame-ancestors")
    host = await framing(context, origins.stranger, everything)
    await troubles.said("frame-ancestors")
    assert await host.page.evaluate("heard") == []


async def test_a_host_of_a_wrong_origin_is_not_heard(
    context: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle
) -> None:
    """Where a web server doesn't send the header that keeps strangers from framing it, the gate still holds."""
    async with held(context, LOADER) as release:
        host = await framing(context, origins.stranger, bare)
        await host.hears("MCP_TRANSPORT_HANDSHAKE")
        await host.say(*OPENINGS)  # before Python runs
        release()
    await host.hears("MCP_TRANSPORT_HANDSHAKE", 2)
    await host.say(*OPENINGS)
    so_far = len(await host.hears("MCP_TRANSPORT_HANDSHAKE"))
    await host.hears("MCP_TRANSPORT_HANDSHAKE", so_far + 1)
    refusal = {"type": "mcpframe-origin-refused", "origin": origins.stranger}
    assert await host.heard_types() == {"MCP_TRANSPORT_HANDSHAKE", refusal["type"]}
    assert await host.hears(refusal["type"]) == [refusal]  # once
    await troubles.said("is not heard")


async def test_a_host_of_opaque_origin_is_not_heard(context: BrowserContext, origins: Origins, bare: Bundle) -> None:
    """Every sandboxed page and every file has the origin "null": it says nothing of who it is."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    url = f"{origins.host}/page.html?sandboxed"
    await page.evaluate(
        """url => {
            const iframe = document.createElement("iframe");
            iframe.sandbox = "allow-scripts";
            iframe.src = url;
            document.body.append(iframe);
        }""",
        url,
    )
    sandboxed = await loaded(newest_frame(page), url)
    assert await sandboxed.evaluate("self.origin") == "null"
    await sandboxed.evaluate("url => embed(url)", bare.url)
    openings = {
        "MCP_TRANSPORT_HANDSHAKE",
        "ui/initialize",
        "ui-lifecycle-iframe-ready",
        "ui-request-render-data",
        "mcp",
    }
    enough = "count => heard.length >= count"
    for_boot = {"polling": POLL, "timeout": BOOT_PATIENCE * 1000}
    await sandboxed.wait_for_function(enough, arg=len(openings), **for_boot)
    texts = [json.dumps(message) for message in OPENINGS]
    await sandboxed.evaluate("texts => texts.forEach((text) => say(text, frames[0]))", texts)
    so_far = len(await sandboxed.evaluate("heard"))
    await sandboxed.wait_for_function(enough, arg=so_far + 2, **for_boot)
    heard = [message["data"] for message in await sandboxed.evaluate("heard")]
    kinds = [message.get("type") or message["method"] for message in heard]
    assert set(kinds) == {*openings, "mcpframe-origin-refused"}
    assert kinds.count("mcpframe-origin-refused") == 1


@pytest.mark.parametrize(("when", "origin"), [("before Python runs", "host"), ("in Python", "stranger")])
async def test_no_other_window_is_heard(
    context: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle, when: str, origin: str
) -> None:
    """The page around the host, siblings of each origin, one of which is gone, and the bundle's own page."""
    top = await context.new_page()
    await top.goto(f"{getattr(origins, origin)}/page.html?top")
    middle = await framed(top, f"{origins.host}/page.html?host")
    async with held(context, LOADER) as release:
        await middle.evaluate("url => embed(url)", bare.url)
        bundle = newest_frame(middle)
        host = Host(cast(Page, middle), bare)  # of a page, what frames have, too
        await host.hears("MCP_TRANSPORT_HANDSHAKE")
        if when == "in Python":
            release()
            await host.hears("MCP_TRANSPORT_HANDSHAKE", 2)
        siblings = [
            await framed(middle, f"{each}/page.html?sibling")
            for each in (origins.host, origins.bundle, origins.stranger)
        ]
        forged = [json.dumps(message) for message in OPENINGS]
        routes = [(top.main_frame, "frames[0].frames[0]"), (bundle, "self")]
        for attacker, target in [*routes, *((sibling, "parent.frames[0]") for sibling in siblings)]:
            posting = f"texts => texts.forEach((text) => {target}.postMessage(JSON.parse(text), '*'))"
            await attacker.evaluate(posting, forged)
        gone, *left = siblings
        await middle.evaluate("document.querySelectorAll('iframe')[1].remove()")  # its events have no source then
        release()
    await host.hears("MCP_TRANSPORT_HANDSHAKE", 2)
    await host.works()
    assert gone.is_detached()
    for attacker in (top.main_frame, *left):
        assert await attacker.evaluate("heard") == []


@pytest.mark.extended
async def test_a_flood_from_a_sibling_costs_the_session_nothing(host: Host, origins: Origins) -> None:
    sibling = await framed(host.page, f"{origins.stranger}/page.html?sibling")
    await sibling.evaluate(
        "text => { for (let i = 0; i < 5000; i++) say(text, parent.frames[0]); }",
        json.dumps({**mcp(INITIALIZE), "filling": "x" * 1000}),
    )
    await host.works()
    assert await sibling.evaluate("heard") == []


async def test_what_comes_before_the_reply_is_not_answered(host: Host) -> None:
    await host.say(mcp({**INITIALIZE, "id": "too early"}))
    await host.say({"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "x"})
    await host.works()
    assert await host.heard_types() == {"MCP_TRANSPORT_HANDSHAKE", "MCP_TRANSPORT_ACCEPTED", "MCP_MESSAGE"}


async def test_a_reply_before_the_handshake_opens_nothing(
    context: BrowserContext, origins: Origins, everything: Bundle
) -> None:
    async with held(context, everything.url) as release:
        host = await framing(context, origins.host, everything)
        await host.say({**REPLY, "sessionId": "too early"}, target_origin="*")
        release()
        await host.hears("MCP_TRANSPORT_HANDSHAKE")
        await host.works()


async def test_replayed_and_conflicting_replies_change_nothing(host: Host) -> None:
    await host.say(REPLY)
    await host.say(REPLY)
    await host.say({**REPLY, "sessionId": "another"})
    await host.say({**REPLY, "protocolVersion": "2.0"})
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    await host.answers()
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    handshakes = len(await host.hears("MCP_TRANSPORT_HANDSHAKE"))
    await host.say({**REPLY, "sessionId": "a third"})
    await host.say(mcp({"jsonrpc": "2.0", "id": "last", "method": "ping"}))
    assert (await host.hears("MCP_MESSAGE", 2))[-1]["payload"] == {"jsonrpc": "2.0", "id": "last", "result": {}}
    assert len(await host.hears("MCP_TRANSPORT_HANDSHAKE")) == handshakes
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]


async def test_a_version_it_does_not_speak_is_said_on_the_page(host: Host, troubles: Troubles) -> None:
    troubles.expect("speaks version 2.0")
    await host.say({**REPLY, "protocolVersion": "2.0"})
    frame = host.page.main_frame.child_frames[0]
    await frame.wait_for_function("() => document.body.innerText.includes('speaks version 2.0')", polling=POLL)
    assert await host.heard_types() == {"MCP_TRANSPORT_HANDSHAKE"}


async def test_a_request_that_no_json_can_spell_is_answered_with_an_error(host: Host, troubles: Troubles) -> None:
    await host.works()
    said = len(await host.hears("MCP_MESSAGE"))
    for name in UNSPELLABLE:
        await host.page.evaluate(
            "([name, origin]) => frames[0].postMessage(oddities[name](), origin)", [name, host.bundle.origin]
        )
        said += 1
        answer = (await host.hears("MCP_MESSAGE", said))[-1]["payload"]
        assert (answer["id"], answer["error"]["code"]) == (name, -32600)
    await host.say(mcp({"jsonrpc": "2.0", "id": "last", "method": "ping"}))
    assert (await host.hears("MCP_MESSAGE", said + 1))[-1]["payload"]["result"] == {}
    await troubles.said("Refused a message")


async def test_the_setup_phase_ends_at_once(context: BrowserContext, origins: Origins, everything: Bundle) -> None:
    host = await framing(context, origins.host, everything, "#setup")
    handshake = (await host.hears("MCP_SETUP_HANDSHAKE"))[0]
    assert handshake["requiresVisibleSetup"] is False
    assert (handshake["minProtocolVersion"], handshake["maxProtocolVersion"]) == ("1.0", "1.0")
    await host.say({"type": "MCP_SETUP_HANDSHAKE_REPLY", "sessionId": "the host's", "protocolVersion": "1.0"})
    (complete,) = await host.hears("MCP_SETUP_COMPLETE")
    assert (complete["status"], complete["serverTitle"], complete["displayName"]) == (
        "success",
        "Everything",
        "Everything",
    )
    assert complete["transportVisibility"]["requirement"] == "hidden"


async def test_a_call_that_is_cancelled_behind_a_busy_one_never_begins(host: Host) -> None:
    """Only a browser decides what it delivers first: messages that waited, or the page's next turn."""

    def call(id_: int, tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        return mcp({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})

    def cancel(id_: int) -> dict[str, Any]:
        return mcp({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}})

    await host.works()
    busy = call(1, "compute", seconds=3)  # longer than this test needs for the next line
    await host.say(busy, call(2, "wait", name="behind a busy one"), call(3, "compute", seconds=1))
    ping = mcp({"jsonrpc": "2.0", "id": 4, "method": "ping"})
    await host.say(cancel(2), cancel(3), ping, call(5, "cancelled_waits"))
    messages = await host.hears("MCP_MESSAGE", 4)
    answers = {message["payload"]["id"]: message["payload"]["result"] for message in messages}
    assert answers.keys() == {"first", 1, 4, 5}
    assert answers[5]["structuredContent"] == {"result": []}


@pytest.mark.extended
async def test_inline_styles_that_the_policy_drops_are_explained_in_one_line(host: Host, troubles: Troubles) -> None:
    troubles.expect("inline style")
    frame = newest_frame(host.page)
    for _ in range(2):
        await frame.evaluate(
            """document.body.insertAdjacentHTML("beforeend", '<b style="color: red"></b>'.repeat(3))"""
        )
    await troubles.said("[tool.mcpframe]")
    await frame.evaluate("new Promise(requestAnimationFrame)")
    assert sum("[tool.mcpframe]" in text for text in troubles.heard) == 1
