"""The promises of `FrameTransport` to a host page, beyond the contract of both outer frames."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import JavaScriptOuter
from tests.contract.playing import heard, loaded, say

NOTE = {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "method": "notifications/note"}}
OUTCOME = "async (promise) => promise.then(() => 'done', ({ name }) => name)"


@pytest.fixture
async def outer(host_page: Page) -> AsyncIterator[JavaScriptOuter]:
    """`FrameTransport` only."""
    async with JavaScriptOuter(host_page) as outer:
        yield outer


async def test_one_iframe_may_hold_session_after_session(outer: JavaScriptOuter, origins: Origins) -> None:
    """Even where the next address differs from the shown one in its hash only, which by itself would load nothing.

    The pages are of the host's site: Playwright's driver trips over frames that change process back and forth so fast.
    """
    ids = set()
    for fragment in ("", "#one", "#two", "#two"):
        url = f"{origins.neighbour}/page.html?inner{fragment}"
        if fragment:
            await outer.page.evaluate("url => lab.connectIn(lab.iframe, { url })", url)
            opened = await outer.next("opened")
        else:
            opened = await outer.open(url)
        ids.add(opened["sessionId"])
        assert (await outer.call(text=fragment))["result"] == {"text": fragment}
        await outer.page.evaluate("lab.transport.close()")
        assert (await outer.next("closed"))["error"] is None
    assert len(ids) == 4
    assert await outer.rest() == []


async def test_a_new_session_in_the_iframe_of_an_open_one_ends_that_one(
    outer: JavaScriptOuter, origins: Origins
) -> None:
    url = f"{origins.neighbour}/page.html?inner"
    await outer.open(url)
    await outer.page.evaluate("url => lab.connectIn(lab.iframe, { url })", url)
    assert (await outer.next("closed"))["error"] == "PeerGone"
    await outer.next("opened")
    assert (await outer.call(text="anew"))["result"] == {"text": "anew"}


async def test_a_given_session_id_reaches_the_page(outer: JavaScriptOuter, origins: Origins) -> None:
    await outer.page.evaluate(
        "options => lab.connect(options)",
        {"url": f"{origins.bundle}/page.html?inner", "sandbox": None, "sessionId": "kept from last time"},
    )
    assert (await outer.next("opened"))["sessionId"] == "kept from last time"
    (reply, *_) = await heard(await outer.inner(), 1)
    assert reply["data"]["sessionId"] == "kept from last time"


async def test_a_session_id_that_no_page_accepts_is_refused_at_once(outer: JavaScriptOuter, origins: Origins) -> None:
    made = """async ([url, sessionId]) => {
        const { FrameTransport } = await import("./host.js");
        const iframe = document.body.appendChild(document.createElement("iframe"));
        try {
            new FrameTransport({ iframe, url, sessionId });
            return "made";
        } catch ({ name, message }) {
            return [name, message];
        }
    }"""
    url = f"{origins.bundle}/page.html"
    assert await outer.page.evaluate(made, [url, "x" * 4096]) == "made"
    for session_id in ("x" * 4097, "\U0001f40d" * 2049, "", 7):
        name, message = await outer.page.evaluate(made, [url, session_id])
        assert name == "OriginError"
        assert "1 to 4096 characters" in message


async def test_the_iframe_gets_its_sandbox_and_its_permissions(outer: JavaScriptOuter, origins: Origins) -> None:
    await outer.page.evaluate(
        "options => lab.connect(options)",
        {
            "url": f"{origins.bundle}/page.html?inner",
            "sandbox": "allow-scripts allow-same-origin",
            "permissions": ["clipboard-write"],
        },
    )
    await outer.next("opened")
    attributes = await outer.page.evaluate("[lab.iframe.getAttribute('sandbox'), lab.iframe.allow]")
    assert attributes == ["allow-scripts allow-same-origin", "clipboard-write"]


async def test_calls_out_of_place_are_refused(outer: JavaScriptOuter, origins: Origins) -> None:
    await outer.connect(f"{origins.bundle}/page.html")
    page = outer.page
    assert await page.evaluate(f"({OUTCOME})(lab.send('{{}}'))") == "StateError"
    assert await page.evaluate(f"({OUTCOME})(lab.transport.start())") == "StateError"
    await page.evaluate("lab.transport.close()")
    assert (await outer.next("closed"))["error"] == "StateError"
    await page.evaluate("lab.transport.close()")
    assert await outer.rest() == []
    assert await page.evaluate(f"({OUTCOME})(lab.send('{{}}'))") == "StateError"


async def test_an_iframe_outside_the_document_is_said(outer: JavaScriptOuter, origins: Origins) -> None:
    message = await outer.page.evaluate(
        """async (url) => {
            const { FrameTransport } = await import("./host.js");
            const transport = new FrameTransport({ iframe: document.createElement("iframe"), url });
            return transport.start().catch(({ message }) => message);
        }""",
        f"{origins.bundle}/page.html",
    )
    assert "append it" in message


async def test_what_a_host_callback_throws_stops_nothing(
    outer: JavaScriptOuter, origins: Origins, troubles: Troubles
) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    await outer.page.evaluate("void (lab.onmessage = lab.transport.onmessage)")
    await outer.page.evaluate("void (lab.transport.onmessage = () => { throw new Error('a bug of the host') })")
    frame = await outer.inner()
    await say(frame, NOTE)
    assert (await outer.next("refused"))["message"] == "a bug of the host"
    await outer.page.evaluate("void (lab.transport.onerror = () => { throw new Error('another bug') })")
    troubles.expect("another bug")
    async with outer.page.expect_event("pageerror"):
        await say(frame, {"type": "MCP_NONSENSE"})
    await outer.page.evaluate("void (lab.transport.onmessage = lab.onmessage)")
    assert (await outer.call(still="here"))["result"] == {"still": "here"}


async def test_nothing_is_left_behind(outer: JavaScriptOuter, origins: Origins) -> None:
    """After the end no message is heard, no timer fires, and no second `onclose` comes."""
    await outer.connect(f"{origins.bundle}/page.html", deadlines={"handshake": 0.2})
    assert (await outer.next("closed"))["error"] == "HandshakeTimeout"
    frame = await loaded(await outer.inner(), f"{origins.bundle}/page.html")  # which may take longer than the deadline
    await say(frame, {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"})
    await outer.page.evaluate("lab.iframe.remove()")
    await outer.open(f"{origins.bundle}/page.html?inner")
    assert (await outer.call(text="next"))["result"] == {"text": "next"}
    assert await outer.rest() == []


async def test_the_deadlines_are_those_of_the_handshake_only(outer: JavaScriptOuter, origins: Origins) -> None:
    await outer.page.clock.install()
    await outer.open(f"{origins.bundle}/page.html?inner")
    await outer.page.clock.fast_forward("10:00:00")
    assert (await outer.call(still="here"))["result"] == {"still": "here"}
    assert await outer.rest() == []


async def test_an_answer_that_cannot_be_sent_becomes_an_error_for_the_page(
    outer: JavaScriptOuter, origins: Origins
) -> None:
    """The page is a client too: of elicitation, and of a server in the host page."""
    await outer.open(f"{origins.bundle}/page.html?inner", limits={"max_message_bytes": 500})
    frame = await outer.inner()
    await say(frame, {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": "asked", "method": "roots/list"}})
    assert (await outer.next("received"))["payload"]["id"] == "asked"
    told = await outer.failure({"jsonrpc": "2.0", "id": "asked", "result": {"roots": "x" * 1000}})
    assert "500" in told
    (_, answer) = await heard(frame, 2)
    assert answer["data"]["payload"]["id"] == "asked"
    assert "500" in answer["data"]["payload"]["error"]["message"]


async def test_what_no_json_can_carry_is_left_out_or_refused(outer: JavaScriptOuter, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner")
    await outer.page.evaluate(
        """lab.transport.send({
            jsonrpc: "2.0", id: 1, method: "echo",
            params: { nothing: undefined, day: new Date(0), map: new Map([[1, 2]]), f() {} },
        })"""
    )
    answer = (await outer.next("received"))["payload"]
    assert answer["result"] == {"day": "1970-01-01T00:00:00.000Z", "map": {}}
    big = "lab.transport.send({ jsonrpc: '2.0', method: 'notifications/x', params: { n: 1n } })"
    assert await outer.page.evaluate(f"({OUTCOME})({big})") == "MalformedMessage"


RELOADED = """async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const first = new FrameTransport({ iframe, url, unresponsiveAfter: 200, timeout: { handshake: 4_000 } });
  await first.start();
  const silent = new Promise((resolve) => (first.onunresponsive = resolve));
  await first.send({ jsonrpc: "2.0", id: 1, method: "silence" });
  await silent;
  const next = first.reload();
  return next.start().then(() => next.close()).then(() => "done", ({ name }) => name);
}"""


async def test_the_deadline_of_a_page_that_is_reloaded_begins_when_it_is_loaded(
    host_page: Page, origins: Origins
) -> None:
    """A silent page is away for a while first, which may be longer than a page has for its handshake."""
    assert await host_page.evaluate(RELOADED, f"{origins.bundle}/page.html?inner") == "done"


PREPARED = """async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, visibility: "required" });
  globalThis.loads = 0;
  globalThis.prepared = { transport, iframe, got: [] };
  transport.hide();
  iframe.addEventListener("load", () => (globalThis.loads += 1));
  await transport.prepare();
  try {
    return [transport.visible, await transport.prepare()];
  } catch ({ name }) {
    return [transport.visible, name];
  }
}"""
USED = """async () => {
  const { transport, got } = prepared;
  const answered = new Promise((resolve) => {
    transport.onmessage = (message) => got.push(message) === 2 && resolve();
  });
  await transport.start();
  const before = got.length;
  await transport.send({ jsonrpc: "2.0", id: 1, method: "echo", params: { text: "used" } });
  await answered;
  const again = await transport.start().catch(({ name }) => name);
  return { before, got, again, loads, visible: transport.visible };
}"""


async def test_a_prepared_page_is_used_at_once_and_what_it_sent_before_is_kept(
    host_page: Page, origins: Origins
) -> None:
    url = f"{origins.bundle}/page.html?inner"
    assert await host_page.evaluate(PREPARED, url) == [False, "StateError"]
    element = (await host_page.evaluate_handle("prepared.iframe")).as_element()
    assert element is not None
    frame = await loaded(await element.content_frame(), url)
    await say(frame, NOTE)
    await say(frame, {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": "asked", "method": "ping"}})
    await host_page.wait_for_function("() => heard.some(({ data }) => data.payload?.method === 'ping')")
    used = await host_page.evaluate(USED)
    assert [message.get("method") for message in used["got"][:2]] == ["notifications/note", "ping"]
    assert (used["before"], used["loads"], used["visible"], used["again"]) == (2, 1, True, "StateError")


@pytest.mark.parametrize(
    "loses", ["prepared.iframe.remove()", "prepared.transport.close()", "(prepared.iframe.src = 'about:blank')"]
)
async def test_a_prepared_page_that_has_gone_is_told_to_who_starts(
    host_page: Page, origins: Origins, loses: str
) -> None:
    await host_page.evaluate(PREPARED, f"{origins.bundle}/page.html?inner")
    await host_page.evaluate(f"void {loses}")
    gone = "prepared.transport.send({}).then(() => false, ({ name }) => name === 'StateError')"
    await host_page.wait_for_function(gone)
    assert await host_page.evaluate(f"({OUTCOME})(prepared.transport.start())") == "PeerGone"


async def test_a_page_that_fails_while_it_is_prepared_is_told_to_who_starts_alone(
    host_page: Page, origins: Origins, troubles: Troubles
) -> None:
    failed = """async (url) => {
        const { FrameTransport } = await import("/host.js");
        const iframe = document.body.appendChild(document.createElement("iframe"));
        const transport = new FrameTransport({ iframe, url, timeout: { handshake: 50 } });
        const ended = new Promise((resolve) => (transport.onclose = resolve));
        void transport.prepare();
        await ended;
        const popup = new FrameTransport({ popup: true, url });
        try {
            popup.prepare();
        } catch ({ name }) {
            return [name, await transport.start().catch(({ name }) => name)];
        }
    }"""
    assert await host_page.evaluate(failed, f"{origins.bundle}/page.html") == ["StateError", "HandshakeTimeout"]
