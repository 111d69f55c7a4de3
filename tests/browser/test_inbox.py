"""The page of a bundle before Python runs: it calls its host, and queues messages until Python takes over.

The page's own script is held back until a test releases it: whatever comes before that comes before Python.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
from playwright.async_api import BrowserContext, Frame, Page

from mcpframe.frame.core.roles import Options
from mcpframe.frame.dialects.sep.dialect import DIALECT
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupErrorCode
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.web.serve import serve_folder
from tests.browser.by_hand import framed
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.browser.test_contract_bundle import (
    ACCEPTED,
    INITIALIZE,
    LOADER,
    REPLY,
    Host,
    bare,  # noqa: F401  a fixture
    framing,
    mcp,
)
from tests.bundle.conftest import write_project
from tests.contract.outer import Outer
from tests.contract.playing import POLL, Release, held
from tests.support.built import build_plain
from tests.support.suites import extended

HANDSHAKE = "MCP_TRANSPORT_HANDSHAKE"
FLOOD = 20_000


@pytest.fixture
async def release(context: BrowserContext) -> AsyncIterator[Release]:
    """Python does not begin to start in this test before this is called."""
    async with held(context, LOADER) as release:
        yield release


@pytest.fixture
async def host(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle, release: Release
) -> Host:
    """A page of the origin that may embed the bundle, which has heard the bundle's call. Python does not run yet."""
    host = await framing(context, origins.host, everything)
    assert await host.hears(HANDSHAKE) == [{"type": HANDSHAKE, "protocolVersion": "1.0"}]
    return host


async def flood(frame: Page | Frame, target: str) -> None:
    await frame.evaluate(
        f"text => {{ for (let i = 0; i < {FLOOD}; i++) say(text, {target}); }}", json.dumps({"filling": "x" * 1000})
    )


async def test_nothing_is_lost_doubled_or_out_of_order_when_python_takes_over(host: Host, release: Release) -> None:
    early, live = 40, 40
    await host.say(REPLY)
    await host.say(mcp(INITIALIZE))
    # Not `ping`, which is answered ahead of the requests that wait.
    listing = """([first, count, origin, pause]) => new Promise((resolve) => {
        let id = first;
        const next = () => {
            const payload = { jsonrpc: "2.0", id, method: "tools/list" };
            frames[0].postMessage({ type: "MCP_MESSAGE", payload }, origin);
            id += 1;
            if (id === first + count) resolve();
            else if (pause) setTimeout(next, pause);
            else next();
        };
        next();
    })"""
    await host.page.evaluate(listing, [0, early, host.bundle.origin, 0])
    release()
    await host.page.evaluate(listing, [early, live, host.bundle.origin, 25])
    answers = await host.hears("MCP_MESSAGE", 1 + early + live)
    assert [answer["payload"]["id"] for answer in answers] == ["first", *range(early + live)]
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    assert len(await host.hears(HANDSHAKE)) == 1


async def test_a_flood_from_the_host_is_counted_and_it_is_called_again(
    host: Host, release: Release, troubles: Troubles
) -> None:
    await flood(host.page, "frames[0]")
    await host.say(REPLY)
    release()
    await troubles.said("messages came before this page was ready")
    await host.hears(HANDSHAKE, 2)
    await host.works()
    [said] = [text for text in troubles.heard if "before this page was ready" in text]
    lost, kept = map(int, re.findall(r"\d+", said)[-2:])
    assert lost + kept == FLOOD + 1
    assert kept <= 1000


@pytest.mark.parametrize("answer", [extended("before"), "after"])
async def test_a_flood_from_a_stranger_costs_nothing_but_a_call(
    host: Host, release: Release, origins: Origins, troubles: Troubles, answer: str
) -> None:
    if answer == "before":
        await host.say(REPLY)
    sibling = await framed(host.page, f"{origins.stranger}/page.html?sibling")
    await flood(sibling, "parent.frames[0]")
    release()
    await troubles.said("messages came before this page was ready")
    if answer == "after":
        await host.hears(HANDSHAKE, 2)
        await host.say(REPLY)
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    await host.answers()
    if answer == "before":
        assert len(await host.hears(HANDSHAKE)) == 1
    assert await sibling.evaluate("heard") == []


async def test_a_reload_before_python_runs_begins_anew(host: Host, release: Release) -> None:
    await host.say(REPLY)
    frame = host.page.main_frame.child_frames[0]
    await frame.evaluate("() => void setTimeout(() => location.reload())")
    await host.hears(HANDSHAKE, 2)
    await host.say(REPLY)
    release()
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    await host.answers()
    assert len(await host.hears(HANDSHAKE)) == 2


@pytest.mark.extended
async def test_a_popup_calls_its_opener(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle, release: Release
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    await page.evaluate("url => void (globalThis.popup = open(url, '', 'popup'))", everything.url)
    host = Host(page, everything)
    await host.hears(HANDSHAKE)
    say = "([text, origin]) => say(text, popup, origin)"
    await page.evaluate(say, [json.dumps(REPLY), everything.origin])
    release()
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    assert len(await host.hears(HANDSHAKE)) == 1


async def test_a_setup_begins_before_python_runs(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle, release: Release
) -> None:
    host = await framing(context, origins.host, everything, "#visible,setup")
    [handshake] = await host.hears("MCP_SETUP_HANDSHAKE")
    assert (handshake["requiresVisibleSetup"], handshake["requestedPermissions"]) == (False, [])
    await host.say({**REPLY, "type": "MCP_SETUP_HANDSHAKE_REPLY"})
    release()
    [complete] = await host.hears("MCP_SETUP_COMPLETE")
    assert complete["status"] == "success"
    assert await host.heard_types() == {"MCP_SETUP_HANDSHAKE", "MCP_SETUP_COMPLETE"}
    assert len(await host.hears("MCP_SETUP_HANDSHAKE")) == 1


@pytest.mark.extended
async def test_a_setup_whose_page_does_not_start_fails_at_once(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle
) -> None:
    troubles.expect("")  # of all that is missing
    host = await framing(context, origins.host, everything, "#setup")
    await host.hears("MCP_SETUP_HANDSHAKE")
    await host.page.goto(f"{origins.host}/page.html")
    await context.route("**/*.wasm", lambda route: route.fulfill(status=404))
    await context.route("**/snapshot.*", lambda route: route.fulfill(status=404))
    outer = OuterFrame(everything.url, options=Options(handshake_timeout=BOOT_PATIENCE))
    with anyio.fail_after(BOOT_PATIENCE):
        async with outer.setup(PlaywrightPlace(host.page)) as setup:
            result = await setup.result()
    assert result.error_code is SetupErrorCode.CONFIG_ERROR
    assert "did not start" in (result.error_message or "")
    await host.page.evaluate("url => embed(url)", f"{everything.url}#setup")
    assert await host.hears("MCP_SETUP_COMPLETE") == [DIALECT.never_started("setup")]


@pytest.mark.extended
async def test_an_outer_frame_waits_for_a_page_that_starts_slowly(
    outer: Outer, everything: Bundle, release: Release
) -> None:
    await outer.watch()
    await outer.connect(everything.url, deadlines={"handshake": BOOT_PATIENCE})
    await outer.inner()
    release()
    await outer.next("opened")
    kinds = [kind for wire in await outer.wires() if (kind := wire["text"].get("type", "")).startswith("MCP_")]
    assert kinds == [HANDSHAKE, f"{HANDSHAKE}_REPLY", "MCP_TRANSPORT_ACCEPTED"]


@pytest.mark.extended
async def test_an_outer_frame_is_not_confused_by_a_reload_before_python_runs(
    context: BrowserContext, outer: Outer, everything: Bundle, release: Release
) -> None:
    await context.add_init_script("globalThis.replies = 0; addEventListener('message', () => (replies += 1));")
    await outer.watch()
    await outer.connect(everything.url, deadlines={"handshake": BOOT_PATIENCE})
    frame = await outer.inner()
    await frame.wait_for_url(lambda url: url.startswith("http"), wait_until="commit")  # its loader is held
    await frame.wait_for_function("() => globalThis.replies === 1", polling=POLL)
    await frame.evaluate("() => { replies = NaN; setTimeout(() => location.reload()); }")
    await frame.wait_for_function("() => globalThis.replies === 1", polling=POLL)
    release()
    await outer.next("opened")
    kinds = [kind for wire in await outer.wires() if (kind := wire["text"].get("type", "")).startswith("MCP_")]
    assert kinds == [HANDSHAKE, f"{HANDSHAKE}_REPLY"] * 2 + ["MCP_TRANSPORT_ACCEPTED"]


async def test_a_page_that_never_accepts_is_given_up(
    outer: Outer, everything: Bundle, release: Release, troubles: Troubles
) -> None:
    await outer.connect(everything.url, deadlines={"handshake": 3.0})
    closed = await outer.next("closed")
    assert closed["error"] == "HandshakeTimeout"
    assert "has not started" in closed["message"]


@pytest.mark.extended
async def test_a_page_that_is_opened_by_itself_listens_to_nobody(
    context: BrowserContext, troubles: Troubles, everything: Bundle, release: Release
) -> None:
    page = await context.new_page()
    await page.goto(everything.url, wait_until="commit")
    await page.wait_for_function("() => document.getElementById('mcpframe-page')")
    assert await page.evaluate("'mcpframeInbox' in globalThis") is False
    release()
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT_PATIENCE * 1000)


@pytest.fixture(scope="module")
def asking(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """A server whose setup is visible and asks for a permission."""
    folder = tmp_path_factory.mktemp("asking")
    write_project(folder, server=ASKING, name="asking")
    built = build_plain(folder, folder / "out", allowed_origins=[origins.host])
    with serve_folder(folder / "out") as served:
        yield Bundle(folder / "out", f"http://bundle.localhost:{served.port}", built.url_path)


ASKING = """
from mcpframe import FrameServer, Permission

server = FrameServer("asking")
camera = Permission("camera", ("setup",), True, "</script><script>alert(1)</script> \\u2028")


@server.setup(visible=True, permissions=[camera])
async def setup(session):
    pass
"""


async def test_the_setup_asks_for_what_the_build_has_found(
    context: BrowserContext, troubles: Troubles, origins: Origins, asking: Bundle, release: Release
) -> None:
    host = await framing(context, origins.host, asking, "#setup")
    early = await host.hears("MCP_SETUP_HANDSHAKE")
    assert early[0]["requiresVisibleSetup"] is True
    [permission] = early[0]["requestedPermissions"]
    assert permission["purpose"] == "</script><script>alert(1)</script> \u2028"
    release()
    assert len({json.dumps(opening) for opening in await host.hears("MCP_SETUP_HANDSHAKE", 2)}) == 1
    await host.say({**REPLY, "type": "MCP_SETUP_HANDSHAKE_REPLY"})
    assert (await host.hears("MCP_SETUP_COMPLETE"))[0]["status"] == "success"


def test_the_policy_allows_exactly_the_scripts_in_the_page(asking: Bundle, everything: Bundle) -> None:
    for bundle, count in ((asking, 1), (everything, 2)):
        page = (bundle.folder / bundle.path / "index.html").read_text("utf-8")
        inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline}
        assert len(hashes) == len(inline) == count  # inbox.js; and what fetches the snapshot, where there is one
        [policy] = re.findall(r"script-src ([^;]*);", html.unescape(page))
        assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
