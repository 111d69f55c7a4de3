"""The matrix of bad input and attacks for a view of MCP Apps: a bundle in the hands of bad hosts, and of strangers.

    line                                                        what must happen
    every field of the answer to ui/initialize wrong            refused; a good answer still opens
    a second answer; answers nobody asked for                   nothing
    another protocol version, an error                          the page says so, and sends nothing more
    a context of wrong types, prototype keys, CSS that breaks out   passed over; the view works
    a sibling, a child, the top page, the view itself           not heard
    a host that may not embed it                                told nothing
    an opaque sandbox around the view                           works
    messages before the answer, twice, after the teardown       nothing breaks
    ids that collide                                            each gets its own answer
    JSON text that is none, too deep; what cannot be JSON       nothing
    floods; 50 MB and more                                      works; over the limit it is an error

After each of them a good call works.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext

from mcpframe.kit.web.serve import serve_folder
from tests.browser.apps_hosts import Hand
from tests.browser.by_hand import framed
from tests.browser.conftest import Bundle, Origins, Troubles, new_profile, watched
from tests.browser.test_matrix import UNSPEAKABLE
from tests.contract.damaged import Record
from tests.contract.playing import POLL
from tests.support.damage import nested

Json = dict[str, Any]
ID = "mcpframe/initialize"
CHANGED = "ui/notifications/host-context-changed"
RESULT: Json = {
    "protocolVersion": "2026-01-26",
    "hostInfo": {"name": "A host", "version": "1"},
    "hostCapabilities": {"openLinks": {}},
    "hostContext": {"theme": "dark"},
}
GOOD: Json = {"jsonrpc": "2.0", "id": ID, "result": RESULT}
FORGED: list[Json] = [
    GOOD,
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"forged": True}}},
    {"jsonrpc": "2.0", "id": "x", "method": "ui/resource-teardown", "params": {}},
    {"jsonrpc": "2.0", "method": "ui/notifications/host-context-changed", "params": {"theme": "forged"}},
]


def _with(**members: Any) -> Json:
    return {**GOOD, **members}


def _without(*members: str) -> Json:
    return {name: value for name, value in GOOD.items() if name not in members}


DAMAGED: dict[str, Any] = {
    "no jsonrpc": _without("jsonrpc"),
    **{f"jsonrpc {value!r}": _with(jsonrpc=value) for value in ("1.0", 2.0, None, [], {})},
    "no id": _without("id"),
    **{f"id {value!r}": _with(id=value) for value in (None, 0, 1.5, True, [], {}, "", "mcpframe/1", [ID])},
    "no result": _without("result"),
    **{f"result {value!r}": _with(result=value) for value in (None, 7, "x", [], True, [RESULT])},
    "a result and an error": _with(error={"code": -1, "message": "x"}),
    **{
        f"error {value!r}": {**_without("result"), "error": value}
        for value in (None, 7, "x", [], {}, {"code": "x", "message": "y"}, {"code": 1}, {"code": 1, "message": 2})
    },
    **{f"protocolVersion {value!r}": _with(result={**RESULT, "protocolVersion": value}) for value in (7, [], {}, True)},
    **{
        f"{member} {value!r}": _with(result={**RESULT, member: value})
        for member in ("hostInfo", "hostCapabilities", "hostContext")
        for value in (7, "x", [], True)
    },
    "too deep": _with(result={**RESULT, "more": nested(200)}),
    "too deep at the top": _with(more=nested(200)),
    "a request of that id": {"jsonrpc": "2.0", "id": ID, "method": "ui/initialize", "params": {}},
    "a list": [GOOD],
    "a text": "ui/initialize",
    "null": None,
}
ODD_CONTEXTS: dict[str, Json] = {
    **{
        f"{member} {value!r}": {member: value}
        for member in (
            "theme",
            "styles",
            "displayMode",
            "availableDisplayModes",
            "containerDimensions",
            "locale",
            "timeZone",
            "platform",
            "deviceCapabilities",
            "safeAreaInsets",
            "toolInfo",
        )
        for value in (None, 7, "</style><script>", [{}], {"__proto__": {"polluted": True}}, {"top": "1px", "id": {}})
    },
    "variables that break out": {
        "styles": {
            "variables": {
                "--a": "red} html{display:none",
                "--b": "url(http://stranger.localhost/)",
                "color": "red",
                "__proto__": "x",
                "--": "x",
                "--c": None,
                "--d d": "x",
            }
        }
    },
    "fonts that break out": {"styles": {"css": {"fonts": "</style><script>document.title='broken'</script>}}}}"}}},
    "fonts that fetch": {"styles": {"css": {"fonts": "@import url(http://stranger.localhost/x.css);"}}},
    "constructor": {"constructor": {"prototype": {"polluted": True}}, "toString": 1, "hasOwnProperty": 2},
    "infinite": {"containerDimensions": {"width": 1e308, "height": -1e308}, "safeAreaInsets": {"top": 1e308}},
}


@pytest.fixture(scope="module")
def bare(view: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The same bundle on a server that lets any page frame it, and any sandbox load it."""
    folder = tmp_path_factory.mktemp("bare") / "bundles"
    shutil.copytree(view.folder, folder, ignore=shutil.ignore_patterns("_headers"))
    with serve_folder(folder, headers={"Access-Control-Allow-Origin": "*"}) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", view.path)


@pytest.fixture(scope="module")
async def profile(browser: Browser) -> AsyncIterator[BrowserContext]:
    """One profile for all tests here, so that the bundle's files come from its cache."""
    async with new_profile(browser) as context:
        yield context


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


def _keys(value: Any) -> set[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set(value if isinstance(value, dict) else ()).union(*map(_keys, inner))


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
    methods: list[str] = await hand.run("heard.map(({ data }) => data.method).filter(Boolean)")
    return methods


@pytest.mark.parametrize("early", [True, False], ids=["inbox", "python"])
async def test_damaged_answers_open_nothing(hand: Hand, early: bool, record_property: Record) -> None:
    if not early:
        await running(hand)
    await hand.post(*DAMAGED.values())
    assert set(await sent(hand)) <= {"ui/initialize"}
    await opens(hand)
    assert (await sent(hand)).count("ui/notifications/initialized") == 1
    record_property("lines", len(DAMAGED))


async def test_a_second_answer_changes_nothing(hand: Hand, record_property: Record) -> None:
    other = {**RESULT, "hostInfo": {"name": "Another", "version": "2"}, "hostContext": {"theme": "light"}}
    await hand.post(GOOD, _with(result=other), {**_without("result"), "error": {"code": -1, "message": "no"}})
    await hand.hears("ui/notifications/initialized")
    await hand.post(_with(result=other), _with(result={**RESULT, "protocolVersion": "1999-01-01"}))
    told = await hand.tool(1, "told")
    assert (told["name"], told["context"]["theme"]) == ("A host", "dark")
    assert (await sent(hand)).count("ui/notifications/initialized") == 1
    record_property("lines", 4)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_with(result={**RESULT, "protocolVersion": "1999-01-01"}), "1999-01-01"),
        (_with(result={**RESULT, "protocolVersion": "<script>alert(1)</script>" * 200}), "<script>"),
        ({**_without("result"), "error": {"code": -32601, "message": "never heard"}}, "never heard"),
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


@pytest.mark.parametrize("late", [False, True], ids=["answer", "change"])
async def test_odd_contexts_are_passed_over(hand: Hand, late: bool, record_property: Record) -> None:
    if late:
        await opens(hand)
        for context in ODD_CONTEXTS.values():
            await hand.post({"jsonrpc": "2.0", "method": CHANGED, "params": context})
    else:
        refused = [each for each in ODD_CONTEXTS.values() if {"__proto__", "prototype"} & _keys(each)]
        await hand.post(*(_with(result={**RESULT, "hostContext": context}) for context in refused))
        assert set(await sent(hand)) == {"ui/initialize"}
        merged: Json = {}
        for context in ODD_CONTEXTS.values():
            merged |= {} if context in refused else context
        await hand.post(_with(result={**RESULT, "hostContext": merged}))
        await hand.hears("ui/notifications/initialized")
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


@pytest.mark.parametrize("origin", ["bundle", "host", "stranger"])
@pytest.mark.parametrize("opened", [False, True], ids=["calling", "open"])
async def test_a_sibling_is_not_heard(hand: Hand, origins: Origins, origin: str, opened: bool) -> None:
    if opened:
        await opens(hand)
    sibling = await framed(hand.page, f"{getattr(origins, origin)}/page.html?sibling")
    await sibling.evaluate("texts => texts.forEach((text) => say(text, parent.frames[0]))", _texts(FORGED))
    if not opened:
        assert set(await sent(hand)) == {"ui/initialize"}
        await opens(hand)
    assert (await hand.tool(1, "told"))["context"]["theme"] == "dark"
    assert ["forged"] not in [list(value) for _, value in (await hand.tool(2, "told"))["heard"]]
    assert await sibling.evaluate("heard") == []


async def test_the_view_s_own_page_is_not_heard(hand: Hand, origins: Origins, record_property: Record) -> None:
    frame = hand.page.frames[1]
    await frame.evaluate("texts => texts.forEach((text) => postMessage(JSON.parse(text), '*'))", _texts(FORGED))
    await opens(hand)
    await frame.evaluate("texts => texts.forEach((text) => postMessage(JSON.parse(text), '*'))", _texts(FORGED))
    assert (await hand.tool(1, "told"))["context"]["theme"] == "dark"
    record_property("lines", 2 * len(FORGED))


@pytest.mark.parametrize("origin", ["host", "stranger"])
async def test_the_page_around_the_host_is_not_heard(
    profile: BrowserContext, troubles: Troubles, origins: Origins, bare: Bundle, origin: str, record_property: Record
) -> None:
    top = await profile.new_page()
    await top.goto(f"{getattr(origins, origin)}/page.html?top")
    await top.evaluate("url => embed(url)", f"{origins.host}/apps_by_hand.html")
    (middle,) = top.main_frame.child_frames
    await middle.wait_for_url(f"{origins.host}/apps_by_hand.html")
    await middle.wait_for_function("() => typeof hand === 'object'", polling=POLL)
    await middle.evaluate("url => embed(url)", bare.url)
    await middle.evaluate("() => hand.hears(({ method }) => method === 'ui/initialize')")
    await top.evaluate("texts => texts.forEach((text) => say(text, frames[0].frames[0]))", _texts(FORGED))
    await middle.evaluate("answer => say(answer)", GOOD)
    await middle.evaluate("() => hand.hears(({ method }) => method === 'ui/notifications/initialized')")
    await top.evaluate("texts => texts.forEach((text) => say(text, frames[0].frames[0]))", _texts(FORGED))
    answer = await middle.evaluate("() => hand.ask(1, 'tools/call', { name: 'told', arguments: {} })")
    assert answer["result"]["structuredContent"]["context"]["theme"] == "dark"
    assert await top.evaluate("heard") == []
    record_property("lines", 2 * len(FORGED))


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


# Order


async def test_what_comes_out_of_order_breaks_nothing(hand: Hand, record_property: Record) -> None:
    early: list[Json] = [
        {"jsonrpc": "2.0", "id": "early", "method": "tools/call", "params": {"name": "add", "arguments": {}}},
        {"jsonrpc": "2.0", "id": "gone", "method": "ui/resource-teardown", "params": {"reason": "early"}},
        {"jsonrpc": "2.0", "method": CHANGED, "params": {"theme": "light"}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": []}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"early": 1}}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"early": 2}}},
    ]
    await hand.post(*early)
    await opens(hand)
    told = await hand.tool("first", "told")
    assert told["context"]["theme"] == "dark"
    assert [value["arguments"] for kind, value in told["heard"] if kind == "ToolInput"][-1:] == [{"early": 2}]
    twice = [
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": [{"type": "text"}]}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": "no list"}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": [1]}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": None},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": [], "id": 5},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-cancelled", "params": {"reason": {"a": 1}}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-of-tomorrow", "params": {}},
        {"jsonrpc": "2.0", "method": "ui/notifications/of-tomorrow"},
        {"jsonrpc": "2.0", "method": "ui/initialize", "id": "yours", "params": {}},
        {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody's"}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "mcpframe/1"}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [], "progress": "x"}},
        {"jsonrpc": "2.0", "id": "nobody's", "result": {}},
        {"jsonrpc": "2.0", "id": "mcpframe/1", "error": {"code": -32601, "message": "nobody asked"}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}},
    ]
    await hand.post(*twice)
    await works(hand)
    record_property("lines", len(early) + len(twice))


async def test_a_teardown_twice_and_with_an_odd_reason(hand: Hand, record_property: Record) -> None:
    await opens(hand)
    reasons = [{"reason": {"a": [1]}}, {"reason": None}, {}, {"reason": "x" * 100_000}]
    for number, params in enumerate(reasons):
        gone = await hand.run("([id, params]) => hand.ask(id, 'ui/resource-teardown', params)", [number, params])
        assert gone == {"jsonrpc": "2.0", "id": number, "result": {}}
    await works(hand)
    record_property("lines", len(reasons))


async def test_ids_that_collide_are_kept_apart(hand: Hand, record_property: Record) -> None:
    """The host's requests have the ids of the view's own ones, while these wait."""
    await opens(hand)
    asking = "id => hand.ask(id, 'tools/call', { name: 'ask', arguments: { method: 'open_link', arguments: { url } } })"
    await hand.run(f"url => {{ window.answered = ({asking})('outer') }}", "https://example.org/")
    waiting = await hand.hears("ui/open-link")
    ids = [waiting["id"], ID, "outer 2", 0, 1]
    for id_ in ids:
        call = {"name": "add", "arguments": {"a": 1, "b": 1}}
        script = """([id, params]) => new Promise((done) => {
            addEventListener("message", ({ data: { id: of, result } }) => {
                if (of === id && result?.structuredContent) done(result);
            });
            say({ jsonrpc: "2.0", id, method: "tools/call", params });
        })"""
        assert (await hand.run(script, [id_, call]))["structuredContent"] == {"result": 2}, id_
    await hand.post({"jsonrpc": "2.0", "id": waiting["id"], "result": {}})
    assert (await hand.run("() => answered"))["result"]["structuredContent"] == {"result": None}
    await hand.post({"jsonrpc": "2.0", "id": waiting["id"], "result": {"isError": True}})
    await works(hand)
    record_property("lines", len(ids) + 1)


# Forms and sizes


async def test_what_is_no_message_of_the_dialect_reaches_nobody(hand: Hand, record_property: Record) -> None:
    await opens(hand)
    for expression in UNSPEAKABLE.values():
        await hand.run(f"() => frames[0].postMessage({expression.replace('oddities', 'odd')}, '*')")
    texts = [
        "",
        "x",
        "{",
        "[]",
        "null",
        "7",
        '{"jsonrpc":"2.0","id":9,"method":"tools/list"',
        '{"jsonrpc":"2.0","id":9,"method":"tools/list","id":10,"params":{"__proto__":{}}}',
        "[" * 100_000,
        '{"jsonrpc":"2.0","method":"x","params":{"a":' + "[" * 5000 + "]" * 5000 + "}}",
        '{"jsonrpc":"2.0","method":"x","params":{"a":1e999,"b":NaN}}',
        json.dumps(json.dumps(GOOD)),
        "\ud800",
    ]
    await hand.run("texts => texts.forEach((text) => frames[0].postMessage(JSON.parse(text), '*'))", _texts(texts))
    await works(hand)
    record_property("lines", len(UNSPEAKABLE) + len(texts))


async def test_a_flood_leaves_the_view_alive(hand: Hand, record_property: Record) -> None:
    await opens(hand)
    await hand.run(
        """() => {
            for (let i = 0; i < 5000; i++) {
                say({ jsonrpc: "2.0", method: "ui/notifications/tool-input-partial", params: { arguments: { i } } });
                say({ jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params: { locale: `x-${i}` } });
                say({ jsonrpc: "2.0", id: `nobody's ${i}`, result: {} });
                frames[0].postMessage({ source: "react-devtools", i }, "*");
            }
        }"""
    )
    assert (await hand.tool("after", "told"))["context"]["locale"] == "x-4999"
    await works(hand)
    record_property("lines", 4)


@pytest.mark.parametrize(("megabytes", "fits"), [(50, True), (70, False)])
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


def _texts(messages: list[Any]) -> list[str]:
    return [json.dumps(message) for message in messages]
