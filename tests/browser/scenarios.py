"""Scenarios for other engines, each with real bundles and a host page.

A scenario returns its outcome, in words: `WORKS`, or what the engine does instead. `tests/browser/test_engines.py`
compares it with the documentation. Chromium is the reference, and has the whole suite.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.kit.base.data import templates_dir
from tests.browser.engines import Engine, sleep, until
from tests.browser.playing_vectors import check_vectors
from tests.browser.stage import Stage
from tests.browser.stored import BLOCK_DELETION, WITHOUT_STORE
from tests.support.built import SERVERS
from tests.support.first_calls import FAILS, FIRST_CALLS

WORKS = "works"
SLEPT = 3.0
"""For how long the browser is stopped, in seconds."""

Play = Callable[[Engine, Stage], str]


@dataclass(frozen=True)
class Scenario:
    """One scenario.

    Attributes:
        name: Its name in tests.
        title: Its name for readers.
        play: Plays it, and returns the outcome.
        settings: Preferences of Firefox; the scenario is for a Firefox of its own, then.
    """

    name: str
    title: str
    play: Play
    settings: Mapping[str, object] = field(default_factory=dict)


SCENARIOS: list[Scenario] = []


def scenario(title: str, **settings: object) -> Callable[[Play], Play]:
    """Add a function to the table; underscores in the names of settings stand for dots."""

    def add(play: Play) -> Play:
        preferences = {name.replace("_", "."): value for name, value in settings.items()}
        SCENARIOS.append(Scenario(play.__name__, title, play, preferences))
        return play

    return add


# Hosts in JavaScript: host.js with the official client


def host(engine: Engine, stage: Stage, page: str = "template.html", ready: str = "window.lab") -> None:
    """Open a host page."""
    engine.open(f"{stage.host}/{page}")
    until(engine, ready)


def run(engine: Engine, script: str, *frames: str, **values: Any) -> Any:
    """Run the body of an async function with these constants."""
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    return engine.run(constants + script, *frames)


def structured(result: Any) -> Any:
    """Return what a tool has returned; it must not have failed."""
    assert not result.get("isError"), result
    return result["structuredContent"]["result"]


def call(engine: Engine, tool: str, **arguments: Any) -> Any:
    """Call a tool of the server that `lab` is connected to."""
    return structured(run(engine, "return await lab.call(tool, args);", tool=tool, args=arguments))


def connect(engine: Engine, stage: Stage, url: str) -> None:
    """Connect to a server from a new host page."""
    host(engine, stage)
    run(engine, "await lab.connect(url);", url=url)


PLAYED = "await new Promise((resolve) => setTimeout(resolve, 500)); return window.played ?? null;"
"""It takes longer than one command of a driver may."""


@scenario("every rule of host.js: the protocol's messages, from friends and strangers, between frames")
def rules_of_host_js(engine: Engine, stage: Stage) -> str:
    host(engine, stage, "vectors.html", "window.playAll")
    origins = {"peer": stage.other, "stranger": stage.stranger}
    run(engine, "playAll(origins).then((text) => (window.played = text));", origins=origins)
    while (played := run(engine, PLAYED)) is None:
        pass
    check_vectors(played)
    return WORKS


CONTRACT = """
const version = await mcp.connect(url, era, "2025-11-25");
const names = (await mcp.client.listTools()).tools.map(({ name }) => name);
const counted = await mcp.call("count", { to: 2 });
const progress = [await mcp.next("progress"), await mcp.next("progress")].map(({ progress }) => progress);
const failed = await mcp.call("fail", { message: "no luck" });
const waiting = mcp.failure(mcp.call("wait", { name: era }));
await mcp.next("progress");
mcp.abort.abort("enough");
const aborted = await waiting;
const texts = [...Array(20).keys()].map(String);
const echoed = await Promise.all(texts.map((text) => mcp.call("echo", { text })));
mcp.answer("elicitation/create", { action: "accept", content: { seats: 2, window: true } });
const booked = await mcp.call("book", { train: "the night train" });
await mcp.setLogLevel("warning");
await mcp.call("log", { text: "hello" });
const logged = (await mcp.next("log")).data;
let cancelled = [];
while (!cancelled.length) cancelled = (await mcp.call("cancelled_waits", {})).structuredContent.result;
const read = (await mcp.client.readResource({ uri: "city://Oslo/sky" })).contents.length;
await mcp.client.close();
return {
  version, names, progress, cancelled, read, logged, aborted: aborted !== null, failed: failed.isError,
  texts: echoed.map(({ structuredContent }) => structuredContent.result),
  counted: counted.content[0].text, booked: booked.content[0].text,
};
"""


def contract(engine: Engine, stage: Stage, era: str, version: str) -> str:
    host(engine, stage, "client.html", "window.mcp")
    found = run(engine, CONTRACT, url=stage.url(SERVERS / "everything"), era=era)
    assert {"echo", "count", "book"} < set(found.pop("names"))
    assert found == {
        "version": version,
        "progress": [1, 2],
        "cancelled": [era],
        "read": 1,
        "logged": {"heard": "hello"},
        "aborted": True,
        "failed": True,
        "texts": [str(number) for number in range(20)],
        "counted": "counted to 2",
        "booked": "2 seats on the night train, window True",
    }
    return WORKS


@scenario("handshake, 20 calls at once, progress, cancellation, elicitation, logs and errors (2025-11-25)")
def a_session_of_the_handshake_era(engine: Engine, stage: Stage) -> str:
    return contract(engine, stage, "legacy", "2025-11-25")


@scenario("the same without a handshake (2026-07-28)")
def a_session_without_a_handshake(engine: Engine, stage: Stage) -> str:
    return contract(engine, stage, "modern", "2026-07-28")


REPLY = {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": "ours", "protocolVersion": "1.0"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}},
}
OURS = [REPLY, {"type": "MCP_MESSAGE", "payload": INITIALIZE}]
THEIRS = [{**REPLY, "sessionId": "theirs"}, {"type": "MCP_MESSAGE", "payload": {**INITIALIZE, "id": "theirs"}}]
SAY = "for (const message of messages) say(JSON.stringify(message), target, origin);"


@scenario("messages of another window, or of a page that may not embed the server, are dropped")
def strangers(engine: Engine, stage: Stage) -> str:
    url = stage.url(SERVERS / "everything")
    origin = url.rpartition("/everything")[0]
    handshakes = "heard.filter(({ data }) => data.type === 'MCP_TRANSPORT_HANDSHAKE').length"
    host(engine, stage, "page.html", "typeof embed === 'function'")
    run(engine, "embed(url); embed(theirs);", url=url, theirs=f"{stage.stranger}/page.html")
    until(engine, f"{handshakes} >= 2")
    until(engine, "typeof say === 'function'", "iframe:nth-of-type(2)")
    run(engine, SAY.replace("target", "parent.frames[0]"), "iframe:nth-of-type(2)", messages=THEIRS, origin=origin)
    before = run(engine, f"return {handshakes};")
    until(engine, f"{handshakes} > {before} + 1")
    run(engine, SAY.replace("target", "frames[0]"), messages=OURS, origin=origin)
    until(engine, "heard.some(({ data }) => data.payload?.id === 'first')")
    heard = run(engine, "return heard.map(({ data }) => data);")
    assert [message["sessionId"] for message in heard if message.get("type") == "MCP_TRANSPORT_ACCEPTED"] == ["ours"]
    assert [each["payload"]["id"] for each in heard if each.get("type") == "MCP_MESSAGE"] == ["first"]
    return WORKS


# Templates


def first_answer(name: str) -> Play:
    """Return a scenario: the first answer of a template, to the first call."""

    def play(engine: Engine, stage: Stage) -> str:
        connect(engine, stage, stage.template(name))
        tool, arguments = FIRST_CALLS[name]
        names = run(engine, "return (await lab.client.listTools()).tools.map(({ name }) => name);")
        answer = run(engine, "return await lab.call(tool, args);", tool=tool, args=arguments)
        assert tool in names
        assert answer["content"]
        assert bool(answer.get("isError")) == (name == FAILS), answer
        return WORKS

    return play


SCENARIOS += [Scenario(f"first_answer_of_{name}", f"`templates/{name}`", first_answer(name)) for name in FIRST_CALLS]


@scenario("`templates/sqlite-analyst`, after its setup")
def first_answer_of_sqlite_analyst(engine: Engine, stage: Stage) -> str:
    url = stage.template("sqlite-analyst", at="localhost")
    host(engine, stage)
    run(engine, "lab.setUp(url);", url=url)
    until(engine, "document.querySelector('#example')", "iframe")
    run(engine, "document.querySelector('#example').click();", "iframe")
    until(engine, "!document.querySelector('#use').disabled", "iframe")
    run(engine, "document.querySelector('#use').click();", "iframe")
    assert run(engine, "return (await lab.setup).title;").startswith("SQLite analyst")
    run(engine, "await lab.connect(url);", url=url)
    answer = run(engine, "return await lab.call('describe', {});")
    assert answer["structuredContent"]["tables"]
    return WORKS


# Setup and storage


def filled_in(engine: Engine, url: str) -> Any:
    """Fill in the setup form of `servers/authored`, and return the result of the setup."""
    run(engine, "lab.setUp(url);", url=url)
    until(engine, "document.querySelector('#save')", "iframe")
    run(engine, "document.querySelector('#name').value = 'Ada'; document.querySelector('#save').click();", "iframe")
    return run(engine, "return await lab.setup;")


def set_up(engine: Engine, stage: Stage, at: str) -> str:
    url = stage.url(SERVERS / "authored", at=at)
    host(engine, stage)
    result = filled_in(engine, url)
    assert result["title"] == "Authored: Ada", result
    run(engine, "await lab.connect(url, visibility);", url=url, visibility=result["visibility"])
    facts = call_whole(engine, "session_facts")
    entered = call_whole(engine, "stored", key="name")
    if entered == {"value": {"name": "Ada", "phase": "setup"}}:
        assert facts["persistent"]
        return WORKS
    assert not facts["persistent"]
    return "stores nothing"


def call_whole(engine: Engine, tool: str, **arguments: Any) -> Any:
    """Call a tool that returns an object."""
    result = run(engine, "return await lab.call(tool, args);", tool=tool, args=arguments)
    assert not result.get("isError"), result
    return result["structuredContent"]


@scenario("a setup form of a server of another site, whose tools then find what was entered")
def setup_elsewhere(engine: Engine, stage: Stage) -> str:
    return set_up(engine, stage, "127.0.0.1")


@scenario("a setup form of a server of the host's site")
def setup_here(engine: Engine, stage: Stage) -> str:
    return set_up(engine, stage, "localhost")


def kept(engine: Engine, stage: Stage, at: str) -> str:
    """Store a value, load the host page again, and look for it."""
    url = stage.url(SERVERS / "authored", at=at)
    connect(engine, stage, url)
    session = run(engine, "return lab.sessionId;")
    assert call(engine, "store", key="kilo", size=1024) == "stored"
    persistent = call_whole(engine, "session_facts")["persistent"]
    host(engine, stage)
    run(engine, "lab.sessionId = session; await lab.connect(url);", session=session, url=url)
    found = call(engine, "stored_keys")
    assert found == (["kilo"] if persistent else [])
    return WORKS if persistent else "in memory; the page says so"


@scenario("`session.storage` after a reload, of a server of another site")
def storage_elsewhere(engine: Engine, stage: Stage) -> str:
    return kept(engine, stage, "127.0.0.1")


@scenario("`session.storage` after a reload, of a server of the host's site")
def storage_here(engine: Engine, stage: Stage) -> str:
    return kept(engine, stage, "localhost")


@scenario("files that are kept (`persist`), after a reload")
def kept_files(engine: Engine, stage: Stage) -> str:
    url = stage.template("unmodified-shopping", at="localhost")
    connect(engine, stage, url)
    session = run(engine, "return lab.sessionId;")
    assert call(engine, "add_item", item="milk") == "1 on the list."
    host(engine, stage)
    run(engine, "lab.sessionId = session; await lab.connect(url);", session=session, url=url)
    assert call(engine, "show_list") == ["milk"]
    return WORKS


@scenario("storage where the user has blocked it", network_cookie_cookieBehavior=2)
def blocked_storage(engine: Engine, stage: Stage) -> str:
    return kept(engine, stage, "localhost")


@scenario("storage in a private window, after a reload", browser_privatebrowsing_autostart=True)
def private_window(engine: Engine, stage: Stage) -> str:
    return kept(engine, stage, "localhost")


@scenario("storage where `localStorage` is off", dom_storage_enabled=False)
def without_local_storage(engine: Engine, stage: Stage) -> str:
    return kept(engine, stage, "localhost")


GIVES_UP = """
lab.client.callTool({ name: "store", arguments: { key: "given up", size: 1 } }, { timeout: 500 }).catch(() => {});
await new Promise((resolve) => setTimeout(resolve, 1500));
"""


@scenario("storage whose deletion waits while a call that stores is given up")
def deletion_waits(engine: Engine, stage: Stage) -> str:
    connect(engine, stage, stage.url(SERVERS / "authored", at="localhost"))
    run(engine, f"await ({BLOCK_DELETION})();", "iframe")
    run(engine, GIVES_UP)
    run(engine, "connection.close();", "iframe")
    assert call(engine, "store", key="kept", size=2) == "stored"
    run(engine, f"await ({WITHOUT_STORE})();", "iframe")
    assert call(engine, "store", key="kept", size=2) == "stored"
    assert call(engine, "stored_keys") == ["kept"]
    return WORKS


# Workers

COMPUTING = """
const found = [];
const value = async (name, args = {}) => (await lab.call(name, args)).structuredContent.result;
found.push(await value("where"), await value("keep", { text: "lost" }));
const stop = new AbortController();
const options = { signal: stop.signal, timeout: 120_000 };
const spinning = lab.client.callTool({ name: "spin", arguments: {} }, options).catch(() => "stopped");
found.push(await value("limited").catch((error) => error.data.reason));
await lab.client.ping();
stop.abort("enough");
found.push(await spinning, await value("keep", { text: "new" }));
return found;
"""


@scenario("a server in a worker: an endless tool is stopped, and a ping is answered meanwhile")
def a_worker(engine: Engine, stage: Stage) -> str:
    connect(engine, stage, stage.url(SERVERS / "computing"))
    assert run(engine, COMPUTING) == ["worker", ["lost"], "timeout", "stopped", ["new"]]
    return WORKS


VANISHING = """
const value = async (name, args) => (await lab.call(name, args)).structuredContent.result;
const failed = await value("vanish", { after: 0 }).catch((error) => error.data.reason);
const found = [failed, await value("keep", { text: "one" }), await value("vanish", { after: 2 })];
while ((await value("keep", { text: "two" }).catch(() => [])).length !== 1); // the old one may have begun with it
return found;
"""


@scenario("a worker that ends in silence (`close()`) is replaced")
def a_worker_that_vanishes(engine: Engine, stage: Stage) -> str:
    connect(engine, stage, stage.url(SERVERS / "computing"))
    assert run(engine, VANISHING) == ["worker_ended", ["one"], "gone"]
    return WORKS


SECOND = """
const { FrameTransport } = await import("/host.js");
const { Client } = await import("/mcp-client.js");
const iframe = document.body.appendChild(document.createElement("iframe"));
const other = new Client({ name: "tests", version: "1.0.0" });
await other.connect(new FrameTransport({ iframe, url, sessionId: lab.sessionId }));
const value = async (client, name, args) => (await client.callTool({ name, arguments: args })).structuredContent.result;
const spinning = other.callTool({ name: "spin", arguments: {} }, { timeout: 2000 }).catch(() => "stopped");
const found = [];
for (let number = 0; number < 10; number += 1) found.push((await value(lab.client, "store", { text: "one" })).length);
found.push(await spinning);
const each = (client) => [..."abcde"].map((text) => value(client, "store", { text }));
await Promise.all([...each(lab.client), ...each(other)]);
found.push((await value(lab.client, "store", { text: "last" })).length);
return found;
"""


@scenario("two servers' workers at once, of one session: one computes, and both store")
def two_workers(engine: Engine, stage: Stage) -> str:
    url = stage.url(SERVERS / "computing", at="localhost")
    connect(engine, stage, url)
    assert run(engine, SECOND, url=url) == [*range(1, 11), "stopped", 21]
    return WORKS


@scenario("functions in worker processes (`in_process`, `ProcessPoolExecutor`)")
def processes(engine: Engine, stage: Stage) -> str:
    connect(engine, stage, stage.url(SERVERS / "pooled"))
    found = [call(engine, "places"), call(engine, "squares", numbers=[3, 1, 2]), call(engine, "pool", numbers=[5])]
    assert found == [["page", "worker"], [9, 1, 4], [25]]
    return WORKS


# Sandboxes

OPAQUE = """
const { FrameTransport } = await import("/host.js");
const { Client } = await import("/mcp-client.js");
const iframe = document.body.appendChild(document.createElement("iframe"));
lab.transport = new FrameTransport({ iframe, url, sandbox: "strict", opaque: true });
lab.client = new Client({ name: "tests", version: "1.0.0" });
lab.client.connect(lab.transport).then(() => (lab.connected = true));
"""
STALLED = "return document.querySelector('#mcpframe-stalled')?.style.visibility === 'visible';"
POLICY = "does not start: there `'self'` in a policy matches nothing"


def starts_opaque(engine: Engine, stage: Stage, url: str) -> bool:
    """Connect to a server in a sandbox without an origin; return whether its page can load its script."""
    host(engine, stage)
    run(engine, OPAQUE, url=url)
    while not run(engine, "return Boolean(lab.connected);"):
        if run(engine, STALLED, "iframe"):
            return False
    return True


@scenario("a server in a worker, in a sandbox without `allow-same-origin`")
def opaque_worker(engine: Engine, stage: Stage) -> str:
    if not starts_opaque(engine, stage, stage.url(SERVERS / "computing")):
        return POLICY
    return WORKS if call(engine, "where") == "worker" else "in the page"


@scenario("storage in a sandbox without `allow-same-origin`")
def opaque_storage(engine: Engine, stage: Stage) -> str:
    if not starts_opaque(engine, stage, stage.url(SERVERS / "authored")):
        return POLICY
    assert call(engine, "store", key="kilo", size=1024) == "stored"
    assert call(engine, "stored_keys") == ["kilo"]
    return WORKS if call_whole(engine, "session_facts")["persistent"] else "in memory; the page says so"


@scenario("a server whose project has its `url`, in a sandbox without `allow-same-origin`")
def opaque_addressed(engine: Engine, stage: Stage) -> str:
    assert starts_opaque(engine, stage, stage.addressed(templates_dir() / "minimal"))
    assert call(engine, "add", a=1, b=2) == 3
    return WORKS


# The inspector

INSPECTED = """
const field = document.querySelector("#insp-url");
field.value = url;
document.querySelector("#insp-add-button").click();
"""
CALLED = """
const visible = (element) => element.getClientRects().length > 0;
const find = (selector) => [...document.querySelectorAll(selector)].find(visible);
const shown = async (selector) => {
  while (!find(selector)) await new Promise((resolve) => setTimeout(resolve, 20));
  return find(selector);
};
(await shown(`nav[aria-label=Tools] [data-key="${tool}"]`)).click();
const form = await shown(`form[aria-label="Arguments of ${tool}"]`);
const inputs = [...form.querySelectorAll("input, textarea")].filter(visible);
for (const [number, text] of values.entries()) {
  inputs[number].value = text;
  inputs[number].dispatchEvent(new Event("input", { bubbles: true }));
  inputs[number].dispatchEvent(new Event("change", { bubbles: true }));
}
form.querySelector("button[type=submit]").click();
let result;
while (!(result = find("[aria-label=Result]")?.innerText)) await new Promise((resolve) => setTimeout(resolve, 20));
return result;
"""
NOTHING = "[...document.querySelectorAll('dialog button')].find((each) => each.textContent === 'Allow nothing')"
STATE = "[...document.querySelectorAll('.insp-state')].some((each) => each.textContent.startsWith('Connected'))"


@scenario("the inspector adds a server, sets it up and calls a tool")
def inspector(engine: Engine, stage: Stage) -> str:
    site = stage.inspecting
    for name, tool, values, answer in (
        ("pi-calculator", "calculate_pi", ["1000"], "1000"),
        ("authored", "session_facts", [], "transport"),
    ):
        engine.open(site.url)
        until(engine, "document.querySelector('#insp-example-list li')")
        run(engine, "document.querySelector('#insp-clear').click();")
        until(engine, "!document.querySelector('#insp-server-list li')")
        run(engine, INSPECTED, url=site.servers[name])
        if name == "authored":
            until(engine, NOTHING)
            run(engine, f"{NOTHING}.click();")
            until(engine, f"!{NOTHING} && document.querySelector('dialog iframe')")
            until(engine, "document.querySelector('#save')", "dialog iframe")
            fill = "document.querySelector('#name').value = 'Ada'; document.querySelector('#save').click();"
            run(engine, fill, "dialog iframe")
        until(engine, STATE)
        assert answer in run(engine, CALLED, tool=tool, values=values)
    return WORKS


# Pages that stand still

LEFT = """
window.left = mcp.failure(mcp.call("wait", { name: "left" }));
await mcp.next("progress");
window.stop = mcp.abort;
addEventListener("pageshow", ({ persisted }) => (window.persisted = persisted));
"""


@scenario("a host page that comes back from the back/forward cache: its session, and a call under way, go on")
def back(engine: Engine, stage: Stage) -> str:
    url = stage.url(SERVERS / "everything")
    host(engine, stage, "client.html", "window.mcp")
    run(engine, "await mcp.connect(url, 'legacy', '2025-11-25');", url=url)
    run(engine, LEFT)
    engine.open(f"{stage.stranger}/page.html")
    engine.back()
    until(engine, "window.mcp")
    if not run(engine, "return Boolean(window.persisted);"):
        run(engine, "await mcp.connect(url, 'legacy', '2025-11-25');", url=url)
        assert run(engine, "return await mcp.call('echo', { text: 'anew' });")["content"][0]["text"] == "anew"
        return "is loaded anew"
    assert run(engine, "return await mcp.call('echo', { text: 'still here' });")["content"][0]["text"] == "still here"
    run(engine, "stop.abort('enough');")
    found = "return (await mcp.call('cancelled_waits', {})).structuredContent.result;"
    while "left" not in run(engine, found):
        pass
    return WORKS


@scenario("the computer sleeps for 3 s in the middle of a call")
def asleep(engine: Engine, stage: Stage) -> str:
    connect(engine, stage, stage.url(SERVERS / "computing"))
    run(engine, "window.napping = lab.call('nap', { seconds: 2 });")
    sleep(engine, SLEPT)
    assert structured(run(engine, "return await window.napping;")) == "slept"
    assert call(engine, "keep", text="after") == ["after"]
    return WORKS
