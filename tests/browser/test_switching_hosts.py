"""One page under one host after the other, under hosts that speak two dialects at once, and amid foreign messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from mcpframe.frame.dialects.available import spoken_names
from mcpframe.frame.dialects.mcp_apps.messages import INITIALIZE_ID
from mcpframe.frame.dialects.mcp_ui.messages import READY, RECEIVED, RENDER_DATA, REQUEST_RENDER_DATA, RESPONSE, TO_HOST
from mcpframe.frame.dialects.sep.messages import TRANSPORT_HANDSHAKE, TRANSPORT_HANDSHAKE_REPLY
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.scaffold import scaffold
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles, new_context
from tests.browser.mcpb import Peer, bring
from tests.browser.official_peers import bundle_official_peers
from tests.browser.test_webmcp import HELPERS
from tests.support.built import SNAPSHOTS
from tests.support.foreign import foreign, foreign_clones
from tests.support.suites import except_for
from tests.vectors.parts import parts

BOOT = BOOT_PATIENCE * 1000

SCRIPTS = """async () => {
    const [{ Client }, { FrameTransport }] = await Promise.all([
        import("./mcp-client.js"), import("./host.js"), import("./apps_host_2.0.4.js"), import("./mcpb_page.js"),
        import("./plain_host_2.x.js"),
    ]);
    globalThis.outcome = {};
    const noting = (name, connecting) => connecting.then(() => { outcome[name] = "connected"; }, (error) => {
        outcome[name] ??= `failed: ${error.message}`;
    });
    globalThis.wires = [];
    addEventListener("message", ({ data }) => wires.push(data));
    globalThis.frame = () => document.querySelector("iframe");
    const go = (url, navigate) => {
        if (!frame()) document.body.append(Object.assign(document.createElement("iframe"), { src: "about:blank" }));
        if (navigate) frame().src = url;
    };
    globalThis.begin = {
        sep(url, { session }) {
            go();
            globalThis.sep = new Client({ name: "a host", version: "1" });
            noting("sep", sep.connect(new FrameTransport({ iframe: frame(), url, sessionId: session })));
        },
        mcp_apps(url, { navigate = true }) {
            go();
            noting("mcp_apps", apps.open(""));
            go(url, navigate);
        },
        mcp_b(url, { navigate = true }) {
            go();
            noting("mcp_b", mcpb.iframeClient(url));
            go(url, navigate);
        },
        plain_mcp(url) {
            go();
            noting("plain_mcp", plain.connect(url, { frame: frame() }));
        },
        async mcp_ui(url) {
            const resource = { uri: "ui://a/page", mimeType: "text/uri-list", text: url };
            ui.open(resource, { answers: {} });
            while (!document.querySelector("iframe")) await new Promise(requestAnimationFrame);
        },
    };
    globalThis.client = {
        sep: () => sep,
        mcp_apps: () => apps.bridge,
        mcp_b: () => mcpb.clients.at(-1),
        plain_mcp: () => plain.client,
    };
}"""
"""The page of a host that has all official packages; each begins with the frame that is there."""


@pytest.fixture(scope="session")
def switched(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/switched`, on the host's site: else private profiles keep nothing of a frame."""
    return bundle_of("switched", at="neighbour.host")


@pytest.fixture(scope="module")
def scripts(site: Path, typescript_client: None) -> str:
    """The official packages, as modules of the site; returns the text of that of MCP-B."""
    return bundle_official_peers(site)


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, origins: Origins, scripts: str) -> Page:
    """The host's page."""
    page = await context.new_page()
    page.set_default_timeout(BOOT)
    await page.goto(f"{origins.host}/ui_host.html")
    await page.wait_for_selector("html[data-state=loaded]", state="attached")
    await page.evaluate(SCRIPTS)
    return page


async def begun(page: Page) -> str:
    """Wait until a session has begun in the frame; return what the page says of it."""
    said = page.frame_locator("iframe").locator("#begun")
    await expect(said).to_be_attached(timeout=BOOT)
    return await said.inner_text()


async def called(page: Page, dialect: str, tool: str = "dialect", **arguments: Any) -> str:
    """Call a tool of the page in a dialect, once that has connected; return its text."""
    with anyio.fail_after(BOOT_PATIENCE):
        return str(
            await page.evaluate(
                """async ([dialect, name, args]) => {
                    while (outcome[dialect] !== "connected") await new Promise((done) => setTimeout(done, 10));
                    const result = await client[dialect]().callTool({ name, arguments: args });
                    return result.content[0].text;
                }""",
                [dialect, tool, arguments],
            )
        )


async def begin(page: Page, dialect: str, url: str, **options: Any) -> None:
    """Begin to speak a dialect with the page in the frame, which is another document for another `url`."""
    await page.evaluate("([name, url, options]) => begin[name](url, options)", [dialect, url, options])


async def test_one_page_under_one_host_after_the_other(page: Page, switched: Bundle, scripts: str) -> None:
    counts: Counter[str] = Counter()
    for number, turn in enumerate(
        ["sep one", "mcp_apps", "mcp_b", "plain_mcp", "sep one", "sep two", "mcp_b", "plain_mcp"]
    ):
        counts[turn] += 1
        dialect, _, session = turn.partition(" ")
        await page.evaluate("() => { outcome = {}; }")
        await begin(page, dialect, f"{switched.url}?{number}", session=session)
        assert await called(page, dialect) == dialect
        assert await begun(page) == f"{dialect} {counts[turn]}"
        await page.evaluate("name => client[name]().close()", dialect)
    assert await page.locator("iframe").count() == 1
    await page.evaluate("() => frame().remove()")
    for count in (1, 2):  # the renderer makes a frame of its own
        await begin(page, "mcp_ui", f"{switched.url}?ui={count}")
        assert await begun(page) == f"mcp_ui {count}"
        await page.evaluate("ui.close()")
        await expect(page.locator("iframe")).to_have_count(0)
    for count in (1, 2):  # in a tab of its own, the values belong to the page's origin
        tab = await page.context.new_page()
        await open_tab(tab, switched.url, scripts)
        assert await Peer.tab(tab)
        await expect(tab.locator("#begun")).to_have_text(f"mcp_b {count}", timeout=BOOT)
        await tab.close()


async def test_a_tab_whose_tools_webmcp_calls(webmcp_browser: Browser, switched: Bundle, scripts: str) -> None:
    """Beside a client of MCP-B in the same tab, which has values of its own."""
    async with new_context(webmcp_browser) as (context, _):
        await context.add_init_script(HELPERS)
        for count in (1, 3):
            page = await context.new_page()
            await open_tab(page, switched.url, scripts)
            await page.evaluate("changed(['dialect', 'keep'])")
            assert (await page.evaluate("call('keep', {})"))["structuredContent"] == {"result": count}
            peer = await Peer.tab(page)
            assert (await peer.tool("keep"))["structuredContent"] == {"result": count // 2 + 1}
            assert (await page.evaluate("call('dialect', {})"))["structuredContent"] == {"result": "webmcp"}
            assert (await peer.tool("dialect"))["structuredContent"] == {"result": "mcp_b"}
            assert (await page.evaluate("call('keep', {})"))["structuredContent"] == {"result": count + 1}
            await page.close()


async def open_tab(page: Page, url: str, scripts: str) -> None:
    """Open the bundle in a tab, with clients of MCP-B in it."""
    await page.goto(url)
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT)
    await bring(page, scripts)


@pytest.mark.extended
async def test_a_new_project_answers_in_the_main_dialects(
    page: Page, origins: Origins, scripts: str, tmp_path: Path
) -> None:
    """Nothing of it is configured but who may embed it."""
    project = scaffold("word-counter", parent=tmp_path)
    built = build(project, tmp_path / "out", allowed_origins=[origins.host], snapshot=SNAPSHOTS)
    with serve_folder(tmp_path / "out") as served:
        url = f"http://bundle.localhost:{served.port}/{built.url_path}"
        for dialect in ("sep", "mcp_apps", "mcp_b"):
            await begin(page, dialect, f"{url}?{dialect}")
            assert await called(page, dialect, "add", a=2, b=3) == "5"
            await page.evaluate("name => client[name]().close()", dialect)
        tab = await page.context.new_page()
        await open_tab(tab, url, scripts)
        assert (await (await Peer.tab(tab)).tool("add", a=2, b=3))["structuredContent"] == {"result": 5}
        await tab.close()
        await page.goto("about:blank")


HEARD_MORE_THAN = """(_, count) => new Promise((done) => {
    const look = () => (heard > count ? done() : setTimeout(look, 20));
    look();
})"""
CALLS = [TRANSPORT_HANDSHAKE, INITIALIZE_ID, READY, REQUEST_RENDER_DATA]
REPLIES = [TRANSPORT_HANDSHAKE_REPLY, INITIALIZE_ID, RENDER_DATA, RECEIVED, RESPONSE]
REPLIES += ["ping", "initialize", "server/discover", "io.modelcontextprotocol/protocolVersion"]
PAIRS = [("mcp_apps", "sep"), ("mcp_b", "sep"), ("mcp_ui", "mcp_apps"), ("mcp_ui", "mcp_b")]


@pytest.mark.parametrize("pair", except_for(PAIRS, ("mcp_apps", "sep")), ids=" and ".join)
async def test_a_host_that_speaks_two_at_once(page: Page, switched: Bundle, pair: tuple[str, str]) -> None:
    """One is adopted, and the page is silent to the other: real hosts of MCP Apps speak mcp-ui, too."""
    first, second = pair
    await begin(page, first, switched.url, navigate=False)
    await begin(page, second, switched.url, navigate=False)
    adopted = (await begun(page)).split()[0]
    (other,) = set(pair) - {adopted}
    await used(page, adopted)
    before = await page.evaluate("wires.length")
    await used(page, adopted)
    assert set(await posted(page, before)) <= {adopted}
    assert await page.evaluate("name => outcome[name] ?? null", other) is None


@pytest.mark.extended
async def test_a_host_that_begins_with_another_one_later(page: Page, switched: Bundle) -> None:
    for number, (adopted, late) in enumerate([("sep", "mcp_apps"), ("mcp_apps", "mcp_b")]):
        await page.evaluate("() => { outcome = {}; }")
        await begin(page, adopted, f"{switched.url}?{number}", session="one")
        await used(page, adopted)
        before = await page.evaluate("wires.length")
        await begin(page, late, switched.url, navigate=False)
        for _ in range(3):
            await used(page, adopted)
        assert set(await posted(page, before)) <= {adopted}
        assert await page.evaluate("name => outcome[name] ?? null", late) is None
        await page.evaluate("names => Promise.all(names.map((name) => client[name]().close()))", [adopted, late])


@pytest.mark.extended
async def test_a_host_that_begins_after_clients_of_mcp_b(page: Page, switched: Bundle) -> None:
    """A hub is one: it lists the tools of a frame as soon as it sees it, and the page's own host comes later."""
    await begin(page, "mcp_b", switched.url)
    await used(page, "mcp_b")
    number = await page.evaluate("mcpb.clients.length - 1")
    hub = Peer(page, number)
    assert await hub.tools() == ["dialect", "keep"]
    await begin(page, "mcp_apps", switched.url, navigate=False)
    await used(page, "mcp_apps")
    await expect(page.frame_locator("iframe").locator("#begun")).to_have_text(["mcp_apps 1"])  # drawn once
    assert await hub.heard("closed") == "closed"
    with anyio.fail_after(BOOT_PATIENCE):
        tools = await page.evaluate("async () => (await apps.bridge.listTools({})).tools.map(({ name }) => name)")
    assert tools == ["dialect", "keep"]


@pytest.mark.extended
@pytest.mark.parametrize("dialect", spoken_names())
async def test_messages_of_the_others_are_noise(page: Page, switched: Bundle, dialect: str) -> None:
    """Every message of the vectors of the others, valid and broken, from the right window and origin."""
    await begin(page, dialect, switched.url)
    await begun(page)
    await used(page, dialect)
    inside = page.frame_locator("iframe").locator("html")
    await inside.evaluate("() => { globalThis.heard = 0; addEventListener('message', () => heard++); }")
    before = await page.evaluate("wires.length")
    count = await page.evaluate(
        """([texts, clones, replies]) => {
            const all = texts.flatMap((text) => [JSON.parse(text), text]).concat(clones.flatMap((code) => eval(code)));
            const kindOf = (message) => message?.type ?? message?.id;
            const isReply = (message) =>
                replies.some((reply) =>
                    [kindOf(message), message?.method].includes(reply) ||
                    (message?.includes?.(`"${reply}"`) ?? false) ||
                    (message?.params?._meta?.[reply] ?? false));
            const noise = all.filter((message) => !isReply(message));
            for (const message of noise) frame().contentWindow.postMessage(message, "*");
            return noise.length;
        }""",
        # Beside clients of MCP-B, the page calls for a host. These are answers, and what it answers to one.
        [list(foreign(dialect)), foreign_clones(dialect), REPLIES if dialect == "mcp_b" else []],
    )
    await inside.evaluate(HEARD_MORE_THAN, count - 1)  # a click overtakes messages
    await used(page, dialect)
    said = await posted(page, before, calls=dialect != "mcp_b")
    # Two dialects have the same form.
    assert set(said) <= {name for name in spoken_names() if parts(name).owns(parts(dialect).call)}
    assert len(said) <= 4  # an answer, and what a page says of its size
    await expect(page.frame_locator("iframe").locator("#mcpframe-error-title")).to_be_hidden()


async def used(page: Page, dialect: str) -> None:
    """Use the page in a dialect: its tool; under a host of mcp-ui, which calls none, its button."""
    if dialect != "mcp_ui":
        assert await called(page, dialect) == dialect
        return
    await page.frame_locator("iframe").locator("#say").click()
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("async () => { while ((await ui.taken('action')).type !== 'prompt'); }")


async def posted(page: Page, since: int, *, calls: bool = True) -> list[str]:
    """Return the dialect of each message that the page has posted since so many; with or without calls for a host."""
    wires = await page.evaluate("since => wires.slice(since)", since)
    return [
        next((name for name, is_own in SPOKEN.items() if is_own(wire)), str(wire))
        for wire in wires
        if calls or (wire.get("type") or wire.get("id")) not in CALLS
    ]


SPOKEN: dict[str, Callable[[Any], bool]] = {
    **{name: parts(name).owns for name in spoken_names()},
    "mcp_ui": lambda wire: wire["type"] in TO_HOST,
}
