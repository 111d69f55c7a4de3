"""A view of MCP Apps, a bundle, in Chromium with hostile hosts and strangers, as far as only a browser decides.

`tests/hostile` has the lines, `tests/unit/hostile/test_apps_view.py` those that the view's Python decides.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import BrowserContext

from mcpframe.kit.web.serve import serve_folder
from tests.browser.apps_hosts import Hand
from tests.browser.by_hand import framed, newest_frame
from tests.browser.conftest import Bundle, Origins, Troubles, watched
from tests.contract.playing import POLL
from tests.hostile.mcp_apps import CHANGED, DAMAGED, FORGED, GOOD, ODD_CONTEXTS, RESULT, TEXTS, answer, answer_without
from tests.hostile.values import UNSPEAKABLE, Record, texts
from tests.support.suites import extended

Json = dict[str, Any]
SENT = "heard.map(({ data }) => data.method).filter(Boolean)"


@pytest.fixture(scope="module")
def bare(view: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The same bundle on a server that lets any page frame it, and any sandbox load it."""
    folder = tmp_path_factory.mktemp("bare") / "bundles"
    shutil.copytree(view.folder, folder, ignore=shutil.ignore_patterns("_headers"))
    with serve_folder(folder, headers={"Access-Control-Allow-Origin": "*"}) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", view.path)


@pytest.fixture
async def troubles(profile: BrowserContext) -> AsyncIterator[Troubles]:
    async with watched(profile) as troubles:
        yield troubles


@pytest.fixture
async def hand(profile: BrowserContext, troubles: Troubles, origins: Origins, view: Bundle) -> Hand:
    """A host that has the view in it, and has not answered yet."""
    hand = await Hand.load(profile, origins.host)
    await hand.run("url => embed(url)", view.url)
    await hand.hears("ui/initialize")
    return hand


async def opens(hand: Hand) -> None:
    """A good answer opens the session."""
    await hand.post(GOOD)
    await hand.hears("ui/notifications/initialized")
    await works(hand)


async def works(hand: Hand) -> None:
    """A good call works."""
    assert await hand.tool("still here", "add", a=2, b=3) == {"result": 5}


async def running(hand: Hand) -> None:
    """Wait until Python runs in the view: the answer does not come from the inbox then."""
    await hand.page.frames[1].wait_for_function("() => !globalThis.mcpframeInbox", polling=POLL)


async def sent(hand: Hand) -> list[str]:
    """The methods of what the view has sent."""
    methods: list[str] = await hand.run(SENT)
    return methods


async def test_damaged_answers_open_nothing_before_python_runs(hand: Hand, record_property: Record) -> None:
    await hand.post(*DAMAGED.values())
    assert set(await sent(hand)) <= {"ui/initialize"}
    await opens(hand)
    assert (await sent(hand)).count("ui/notifications/initialized") == 1
    record_property("lines", len(DAMAGED))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answer(result={**RESULT, "protocolVersion": "1999-01-01"}), "1999-01-01"),
        extended(answer(result={**RESULT, "protocolVersion": "<script>alert(1)</script>" * 200}), "<script>"),
        ({**answer_without("result"), "error": {"code": -32601, "message": "never heard"}}, "never heard"),
    ],
    ids=["version", "endless version", "error"],
)
async def test_a_host_that_does_not_speak_ours_is_left_in_peace(
    hand: Hand, troubles: Troubles, answer: Json, said: str
) -> None:
    troubles.expect("")
    await hand.post(answer)
    frame = hand.page.frames[1]
    await frame.wait_for_function("said => document.body.innerText.includes(said)", arg=said, polling=POLL)
    await hand.post(GOOD, *FORGED)
    await frame.evaluate("() => new Promise((done) => setTimeout(done))")
    assert set(await sent(hand)) == {"ui/initialize"}
    assert await frame.evaluate("document.querySelectorAll('body script:not([src]):not([type])').length <= 1")


async def test_styles_that_break_out_style_nothing(hand: Hand, record_property: Record) -> None:
    await opens(hand)
    for context in ODD_CONTEXTS.values():
        await hand.post({"jsonrpc": "2.0", "method": CHANGED, "params": context})
    await works(hand)
    frame = hand.page.frames[1]
    assert await frame.evaluate("[Object.prototype.polluted, document.title === 'broken'].join()") == ",false"
    assert await frame.evaluate("getComputedStyle(document.documentElement).display") == "block"
    assert await frame.evaluate("getComputedStyle(document.documentElement).color") != "rgb(255, 0, 0)"
    change = {"theme": "light", "styles": {"variables": {"--a": "blue"}}, "safeAreaInsets": {"top": 1}}
    await hand.post({"jsonrpc": "2.0", "method": CHANGED, "params": change})
    assert (await hand.tool("after", "told"))["context"]["theme"] == "light"
    assert await frame.evaluate("document.documentElement.style.getPropertyValue('--a')") == "blue"
    record_property("lines", len(ODD_CONTEXTS))


# Strangers


@pytest.mark.parametrize("origin", [extended("host"), "stranger"])
async def test_no_other_window_is_heard(
    profile: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle, origin: str, record_property: Record
) -> None:
    """Siblings of each origin, the page around the host, and the view's own page; before its session and in it."""
    top = await profile.new_page()
    await top.goto(f"{getattr(origins, origin)}/page.html?top")
    middle = await framed(top, f"{origins.host}/apps_by_hand.html")
    await middle.wait_for_function("() => typeof hand === 'object'", polling=POLL)
    await middle.evaluate("url => embed(url)", bare.url)
    await middle.evaluate("() => hand.hears(({ method }) => method === 'ui/initialize')")
    view = newest_frame(middle)
    siblings = [
        await framed(middle, f"{origin}/page.html?sibling")
        for origin in (origins.bundle, origins.host, origins.stranger)
    ]
    routes = [(top.main_frame, "frames[0].frames[0]"), (view, "self")]
    routes += [(sibling, "parent.frames[0]") for sibling in siblings]

    async def forge() -> None:
        for attacker, target in routes:
            posting = f"texts => texts.forEach((text) => {target}.postMessage(JSON.parse(text), '*'))"
            await attacker.evaluate(posting, texts(FORGED))

    async def told() -> Json:
        answer = await middle.evaluate("() => hand.ask(1, 'tools/call', { name: 'told', arguments: {} })")
        content: Json = answer["result"]["structuredContent"]
        return content

    await forge()
    assert set(await middle.evaluate(SENT)) == {"ui/initialize"}
    await middle.evaluate("answer => say(answer)", GOOD)
    await middle.evaluate("() => hand.hears(({ method }) => method === 'ui/notifications/initialized')")
    await forge()
    heard = await told()
    assert heard["context"]["theme"] == "dark"
    assert ["forged"] not in [list(value) for _, value in heard["heard"]]
    for attacker in (top.main_frame, *siblings):
        assert await attacker.evaluate("heard") == []
    record_property("lines", 2 * len(FORGED) * len(routes))


async def test_a_page_that_may_not_embed_it_is_told_nothing_more(
    profile: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle, record_property: Record
) -> None:
    hand = await Hand.load(profile, origins.stranger)
    await hand.run("url => embed(url)", bare.url)
    await hand.hears("ui/initialize")
    await hand.post(*FORGED)
    await running(hand)
    await hand.post(*FORGED)
    await troubles.said("Refused a message from")
    assert set(await sent(hand)) <= {"ui/initialize"}
    assert await hand.run("heard.every(({ data }) => !('result' in data) && !('error' in data))")
    record_property("lines", 2 * len(FORGED))


# Forms and sizes


async def test_what_is_no_message_of_the_dialect_and_floods(hand: Hand, record_property: Record) -> None:
    await opens(hand)
    for expression in UNSPEAKABLE.values():
        await hand.run(f"() => frames[0].postMessage({expression.replace('oddities', 'odd')}, '*')")
    await hand.run("all => all.forEach((text) => frames[0].postMessage(JSON.parse(text), '*'))", texts(TEXTS))
    await works(hand)
    await hand.run(
        """() => {
            for (let i = 0; i < 5000; i++) {
                say({ jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params: { locale: `x-${i}` } });
                frames[0].postMessage({ source: "react-devtools", i }, "*");
            }
        }"""
    )
    assert (await hand.tool("after", "told"))["context"]["locale"] == "x-4999"
    record_property("lines", len(UNSPEAKABLE) + len(TEXTS) + 2)


@pytest.mark.extended
@pytest.mark.parametrize(("megabytes", "fits"), [(50, True), extended(70, False)])
async def test_a_large_resource(hand: Hand, megabytes: int, fits: bool) -> None:
    """The limit of a bundle is 64 MiB a message."""
    await opens(hand)
    asking = "() => hand.ask('big', 'tools/call', { name: 'weigh', arguments: { uri: 'x://big' } })"
    await hand.run(f"() => {{ window.answered = ({asking})() }}")
    waiting = await hand.hears("resources/read")
    await hand.run(
        """([id, size]) => {
            const contents = [{ uri: "x://big", text: "x".repeat(size) }];
            say({ jsonrpc: "2.0", id, result: { contents } });
        }""",
        [waiting["id"], megabytes * 1_000_000],
    )
    answer = (await hand.run("() => answered"))["result"]
    if fits:
        assert answer["structuredContent"] == {"result": megabytes * 1_000_000}
    else:
        assert answer["isError"]
        assert "MessageTooLarge" in str(answer) or "max_message_bytes" in str(answer)
    await works(hand)


# Sandboxes


async def test_a_view_in_an_opaque_sandbox_works(
    profile: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle
) -> None:
    """Its own origin is "null": the host has to post to any origin, and it knows the view by its window."""
    hand = await Hand.load(profile, origins.host)
    await hand.run("url => embed(url, 'allow-scripts')", bare.url)
    await hand.hears("ui/initialize")
    await opens(hand)
    assert set(await hand.run("heard.map(({ origin }) => origin)")) == {"null"}
