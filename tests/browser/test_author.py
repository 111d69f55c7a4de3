"""An author's setup and UI in a real page, as its user sees it: `servers/authored` in Chromium.

The bundle is of the host's site, as Playwright's profiles are private ones, in which frames of other sites have no
storage. Two tests are about those.
"""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from playwright.async_api import Browser, BrowserContext, Frame, Page, expect

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import Permission, SetupErrorCode, SetupRequired, SetupResult, Visibility
from mcpframe.frame.storage.values import LOCK_LEASE
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles, new_context, profile_with_third_party_storage
from tests.browser.outers import PATIENCE
from tests.browser.stored import BLOCK_DELETION, STORED, WITHOUT_STORE
from tests.contract.playing import until_true
from tests.support.built import SERVERS
from tests.support.server_kinds import FRAME_SERVER, of_kind
from tests.support.suites import except_for, extended

OPTIONS = Options(handshake_timeout=BOOT_PATIENCE)


OWN_PADDING = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("main { padding: 3px; }");
    document.adoptedStyleSheets.push(sheet);
}"""
REQUIREMENTS = {"mcp 2.x": [], "mcp 1.x": ["mcp<2"], "fastmcp": ["fastmcp>=4,<5"]}
of_every_kind = pytest.mark.parametrize(
    "authored", except_for([FRAME_SERVER, "mcp 2.x", "mcp 1.x", "fastmcp"], FRAME_SERVER), indirect=True
)
"""For tests that are repeated with wrapped servers of other SDKs; `test_docs.py` has one of them in the usual suite."""


@pytest.fixture(scope="session")
def authored(request: pytest.FixtureRequest, bundle_of: BundleOf, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of `servers/authored`, which the host's origin may embed; its parameter is a kind of server."""
    kind = getattr(request, "param", FRAME_SERVER)
    if kind == FRAME_SERVER:
        return bundle_of("authored", at="bundle.host")
    project = write_kind(SERVERS / "authored", tmp_path_factory.mktemp("project") / "authored", kind)
    return bundle_of(project, at="bundle.host", group=kind.replace(" ", "-"))


def write_kind(project: Path, folder: Path, kind: str) -> Path:
    """Write the project of a `FrameServer` anew, for a wrapped server of this kind, and return its folder."""
    shutil.copytree(project, folder)
    server, configuration = folder / "server.py", folder / "pyproject.toml"
    server.write_text(of_kind(server.read_text().replace(', version="1.0.0"', ""), kind))
    requirements = f"dependencies = {json.dumps(REQUIREMENTS[kind])}"
    configuration.write_text(configuration.read_text().replace("dependencies = []", requirements))
    return folder


class SetUp:
    """A setup that is under way in a frame of the host page."""

    def __init__(self, outer: OuterFrame, setup: Any, frame: Frame) -> None:
        self.outer = outer
        self.setup = setup
        self.frame = frame

    async def result(self) -> SetupResult:
        with anyio.fail_after(PATIENCE):
            result: SetupResult = await self.setup.result()
            return result


@asynccontextmanager
async def setting_up(page: Page, bundle: Bundle, **options: Any) -> AsyncIterator[SetUp]:
    """Set the bundle up in the host page, until its form is there."""
    outer = OuterFrame(bundle.url, options=OPTIONS, **options)
    place = PlaywrightPlace(page)
    async with outer.setup(place) as setup:
        assert place.window is not None
        frame = await place.window.frame()
        await frame.wait_for_selector("#save")
        yield SetUp(outer, setup, frame)


class Connected:
    """A session with the bundle in a frame of the host page."""

    def __init__(self, outer: OuterFrame, client: Client, frame: Frame) -> None:
        self.outer = outer
        self.client = client
        self.frame = frame

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, and give its structured result."""
        with anyio.fail_after(PATIENCE):
            result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        content: Any = result.structured_content
        return content["result"] if content and set(content) == {"result"} else content


@asynccontextmanager
async def connected(page: Page, outer: OuterFrame, *, visible: bool | None = None) -> AsyncIterator[Connected]:
    """Open a session with the bundle in the host page."""
    place = PlaywrightPlace(page)
    async with Client(outer.connect(place, visible=visible), mode="auto") as client:
        assert place.window is not None
        yield Connected(outer, client, await place.window.frame())


def outer_for(bundle: Bundle, session_id: str | None = None, **options: Any) -> OuterFrame:
    return OuterFrame(bundle.url, session_id=session_id, options=OPTIONS, **options)


# Setup


@of_every_kind
async def test_a_person_sets_it_up_and_the_tools_find_what_was_entered(
    host_page: Page, authored: Bundle, tmp_path: Path
) -> None:
    async with setting_up(host_page, authored) as under_way:
        assert under_way.setup.requires_visible
        assert under_way.setup.permissions == (Permission("clipboard-write", purpose="To copy results"),)
        frame = under_way.frame
        await expect(frame.locator("#mcpframe-page")).to_be_hidden()
        await expect(frame.locator("h1:visible")).to_have_text("Set it up")
        await expect(frame.locator("h1:visible")).to_have_css("color", "rgb(1, 2, 3)")
        await expect(frame.locator("main")).to_have_css("padding", "20px")
        await frame.evaluate(OWN_PADDING)
        await expect(frame.locator("main")).to_have_css("padding", "3px")
        assert await frame.eval_on_selector("#picture", "async (it) => (await it.decode(), it.naturalWidth)") == 1
        assert await frame.get_attribute("#elsewhere", "href") == "https://elsewhere.example/"
        (tmp_path / "chosen.bin").write_bytes(b"\x01\x02\x03")
        await frame.set_input_files("#file", tmp_path / "chosen.bin")
        await frame.fill("#name", "Ada")
        await frame.click("#save")
        assert await under_way.result() == SetupResult(
            "Authored: Ada", Visibility.OPTIONAL, "See the counter", ephemeral_message="Saved"
        )
        outer = under_way.outer
    async with connected(host_page, outer) as session:
        facts = await session.call("session_facts")
        assert facts == {
            "id": outer.session_id,
            "origin": await host_page.evaluate("origin"),
            "phase": "transport",
            "persistent": True,
            "same": True,
        }
        assert await session.call("stored", key="name") == {"value": {"name": "Ada", "phase": "setup"}}
        assert await session.call("stored", key="file") == {"bytes": 3, "first": 1}
        stored = await session.frame.evaluate(STORED)
        assert stored == [[outer.session_id, "file"], [outer.session_id, "name"]]


@pytest.mark.parametrize(
    ("button", "code", "message", "shown"),
    [
        extended("cancel", "USER_CANCELLED", "The setup was cancelled.", None),
        extended("deny", "AUTH_FAILED", "Wrong password", None),
        ("crash", "CONFIG_ERROR", "no such thing", "LookupError: no such thing"),
        extended("slow", "TIMEOUT", "The setup was not completed in time.", "TimeoutError"),
    ],
)
async def test_a_setup_that_ends_badly_is_reported_and_shown(
    host_page: Page, authored: Bundle, troubles: Troubles, button: str, code: str, message: str, shown: str | None
) -> None:
    troubles.expect(message)
    async with setting_up(host_page, authored) as under_way:
        await under_way.frame.click(f"#{button}")
        result = await under_way.result()
        assert (result.error_code, result.error_message) == (SetupErrorCode(code), message)
        await expect(under_way.frame.locator("#mcpframe-error-title")).to_have_text(message)
        detail = under_way.frame.locator("#mcpframe-error-detail")
        if shown:
            await expect(detail).to_contain_text("Traceback")
            await expect(detail).to_contain_text(shown)
        else:
            await expect(detail).to_be_hidden()


async def test_a_setup_that_the_host_gives_up_leaves_a_page_that_can_be_set_up_again(
    host_page: Page, authored: Bundle
) -> None:
    async with setting_up(host_page, authored) as under_way:
        outer = under_way.outer
    assert await host_page.evaluate("frames.length") == 0
    async with setting_up(host_page, authored, session_id=outer.session_id) as under_way:
        await under_way.frame.fill("#name", "again")
        await under_way.frame.click("#save")
        assert (await under_way.result()).title == "Authored: again"


@of_every_kind
async def test_a_session_asks_for_its_setup_again(host_page: Page, authored: Bundle) -> None:
    heard: list[Any] = []
    outer = outer_for(authored, on_event=heard.append)
    async with connected(host_page, outer) as session:
        await session.call("need_setup", reason="AUTH_EXPIRED", can_continue=True)
        assert [event for event in heard if isinstance(event, SetupRequired)] == [
            SetupRequired("AUTH_EXPIRED", "Please sign in", True)  # type: ignore[arg-type]
        ]
        assert outer.setup_required is not None
        assert (await session.call("session_facts"))["phase"] == "transport"


# Storage


@of_every_kind
async def test_values_outlive_the_page_and_belong_to_one_session(host_page: Page, authored: Bundle) -> None:
    one, other = outer_for(authored, "one"), outer_for(authored, "one:two")
    async with connected(host_page, one) as session:
        for key, size, binary in (("kilo", 1024, False), ("mega", 5_000_000, False), ("data", 5_000_000, True)):
            assert await session.call("store", key=key, size=size, binary=binary) == "stored"
        await session.call("store_json", key="two:x", text='{"ü": [null, 1.5, "🐍"]}')
        assert await session.frame.evaluate(STORED) == [["one", key] for key in ("data", "kilo", "mega", "two:x")]
        await session.frame.evaluate(
            """() => {
                localStorage.setItem("mcpframe:1:one:old", '"by an earlier version"');
                localStorage.setItem("mcpframe:1:one%3Atwo:x", '"of the other session"');
            }"""
        )
    async with connected(host_page, other) as session:
        assert await session.call("stored_keys") == ["x"]
        assert await session.call("stored", key="x") == {"value": "of the other session"}
        assert await session.call("stored", key="y") == {"value": "nothing"}
        await session.call("store", key="kilo", size=3)
        assert await session.call("forget") == []
    async with connected(host_page, one) as session:
        assert await session.call("stored_keys") == ["data", "kilo", "mega", "old", "two:x"]
        assert await session.call("stored", key="old") == {"value": "by an earlier version"}
        assert await session.call("stored", key="kilo") == {"value": "x" * 1024}
        assert len((await session.call("stored", key="mega"))["value"]) == 5_000_000
        assert await session.call("stored", key="data") == {"bytes": 5_000_000, "first": 7}
        assert (await session.call("stored", key="two:x"))["value"]["ü"] == [None, 1.5, "🐍"]
        assert await session.call("store", key="kilo", size=100_000) == "stored"
        assert await session.call("store", key="mega", size=1) == "stored"
        assert await session.call("stored", key="mega") == {"value": "x"}
        assert await session.call("store", key="old", size=3) == "stored"
        assert await session.call("stored", key="old") == {"value": "xxx"}
        assert await session.call("forget", key="data") == ["kilo", "mega", "old", "two:x"]
        assert await session.call("forget") == []
        assert await session.frame.evaluate(STORED) == []
        assert (
            await session.frame.evaluate("Object.keys(localStorage).some((key) => key.startsWith('mcpframe:'))")
            is False
        )
        assert await session.call("stored", key="kilo") == {"value": "nothing"}


FULL = """() => {
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...values) {
        const request = put.apply(this, values);
        const error = new DOMException("full", "QuotaExceededError");
        Object.defineProperty(this.transaction, "error", { get: () => error });
        this.transaction.abort();
        return request;
    };
}"""
"""Makes a browser refuse as a full one does: the request succeeds, then its transaction is aborted. (The devtools'
`Storage.overrideQuotaForOrigin` does nothing in the Chromium this was written with.)"""


async def test_a_full_browser_is_a_clear_error_and_loses_nothing(host_page: Page, authored: Bundle) -> None:
    async with connected(host_page, outer_for(authored)) as session:
        assert await session.call("store", key="kept", size=100_000) == "stored"
        await session.frame.evaluate(FULL)
        told = await session.call("store", key="kept", size=2_000_000)
        assert told.startswith("QuotaError: The browser gives this page no more room")
        assert len((await session.call("stored", key="kept"))["value"]) == 100_000


CHANGES = "async (lock) => (await navigator.locks.query()).held.some(({ name }) => name === lock)"
DELETED = """() => new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase("mcpframe");
    deleting.onsuccess = () => resolve();
    deleting.onblocked = () => reject("A connection is open.");
})"""


async def test_who_gives_up_while_the_database_opens_leaves_a_usable_one(host_page: Page, authored: Bundle) -> None:
    async with connected(host_page, outer_for(authored)) as session:
        await session.frame.evaluate(BLOCK_DELETION)
        lock = f"mcpframe:1:{session.outer.session_id}"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: session.call("store", key="given up", size=1))
            await until_true(session.frame, CHANGES, lock)
            tasks.cancel_scope.cancel()
        await until_true(session.frame, f"async (lock) => !await ({CHANGES})(lock)", lock)
        await session.frame.evaluate("() => connection.close()")
        assert await session.call("store", key="kept", size=2) == "stored"
        assert await session.call("stored", key="kept") == {"value": "xx"}
        assert await session.call("stored_keys") == ["kept"]
        await session.frame.evaluate(DELETED)  # no connection is left open


async def test_a_database_without_its_store_is_replaced_once(host_page: Page, authored: Bundle) -> None:
    async with two_pages(host_page, authored) as (one, other):
        await one.frame.evaluate(WITHOUT_STORE)
        async with anyio.create_task_group() as tasks:
            for page in (one, other):
                for number in range(5):
                    key = f"{number} of {'one' if page is one else 'other'}"
                    tasks.start_soon(lambda page=page, key=key: page.call("store", key=key, size=1))
        kept = sorted(f"{number} of {page}" for number in range(5) for page in ("one", "other"))
        assert await one.call("stored_keys") == await other.call("stored_keys") == kept


@asynccontextmanager
async def two_pages(host_page: Page, bundle: Bundle) -> AsyncIterator[tuple[Connected, Connected]]:
    """One session in two tabs: a user may have a host open twice."""
    second = await host_page.context.new_page()
    await second.goto(host_page.url)
    outer = outer_for(bundle)
    async with connected(host_page, outer) as one, connected(second, outer_for(bundle, outer.session_id)) as other:
        yield one, other


async def change_at_once(one: Connected, other: Connected) -> None:
    """Store a value in both pages at the same time, small and large, and see that it is there."""
    sizes = [(1000, 100_000), (100_000, 1000), (100_000, 200_000), (10, 20)]
    for round_ in range(40):
        first, second = sizes[round_ % len(sizes)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda size=first: one.call("store", key="contended", size=size))
            tasks.start_soon(lambda size=second: other.call("store", key="contended", size=size))
        kept = {len((await page.call("stored", key="contended"))["value"]) for page in (one, other)}
        assert kept in ({first}, {second}), f"round {round_}"
        assert await one.call("stored_keys") == await other.call("stored_keys") == ["contended"]


async def test_pages_of_one_session_lose_no_value_that_both_change(host_page: Page, authored: Bundle) -> None:
    async with two_pages(host_page, authored) as (one, other):
        await change_at_once(one, other)
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(lambda: one.call("count_up"))
                tasks.start_soon(lambda: other.call("count_up"))
        assert await one.call("stored", key="count") == {"value": 40}
        await other.call("forget", key="count")
        for _ in range(10):  # what is stored while everything is removed is there or is not, in one place
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: one.call("store", key="contended", size=1000))
                tasks.start_soon(lambda: other.call("forget"))
            kept = await one.call("stored_keys")
            assert kept in ([], ["contended"])
            value = (await other.call("stored", key="contended"))["value"]
            assert value == ("x" * 1000 if kept else "nothing")


@pytest.mark.extended
async def test_nor_do_they_in_a_browser_without_locks(host_page: Page, authored: Bundle) -> None:
    async with two_pages(host_page, authored) as (one, other):
        for page in (one, other):  # as in an insecure context
            await page.frame.evaluate("Object.defineProperty(navigator, 'locks', { value: undefined })")
        await change_at_once(one, other)


HANG = """(lease) => {
    indexedDB.open = () => new EventTarget();
    const { setTimeout } = window;
    window.setTimeout = (act, time, ...rest) => setTimeout(act, time === lease * 1000 ? 1 : time, ...rest);
}"""
"""Makes a change of values hang for ever, and the lease of its lock end soon."""


@pytest.mark.extended
async def test_a_page_that_hangs_or_goes_while_it_changes_values_holds_up_no_other(
    host_page: Page, authored: Bundle, troubles: Troubles
) -> None:
    troubles.expect("404")  # the tab of a file has no icon
    async with two_pages(host_page, authored) as (one, other), anyio.create_task_group() as tasks:
        await one.frame.evaluate(HANG, LOCK_LEASE)
        tasks.start_soon(lambda: one.call("store", key="kept", size=1))
        assert await other.call("store", key="kept", size=2) == "stored"
        assert await other.call("stored", key="kept") == {"value": "xx"}

        closing = await host_page.context.new_page()
        await closing.goto(f"{authored.url}manifest.json")
        lock = f"mcpframe:1:{one.outer.session_id}"
        await closing.evaluate(
            "(name) => new Promise((held) => navigator.locks.request(name, () => (held(), new Promise(() => {}))))",
            lock,
        )
        tasks.start_soon(lambda: other.call("store", key="kept", size=3))
        with anyio.fail_after(PATIENCE):
            pending = "async (lock) => (await navigator.locks.query()).pending.some(({ name }) => name === lock)"
            await until_true(other.frame, pending, lock)
        await closing.close()
        while await other.call("stored", key="kept") != {"value": "xxx"}:
            pass
        tasks.cancel_scope.cancel()


def elsewhere(bundle: Bundle) -> Bundle:
    """The bundle at an origin of another site than the host's."""
    return replace(bundle, origin=bundle.origin.replace("bundle.host.", "bundle."))


@pytest.mark.parametrize("sandbox", ["strict", extended("standard")])
async def test_a_page_without_storage_keeps_values_in_memory_and_says_so(
    host_page: Page, authored: Bundle, troubles: Troubles, sandbox: str
) -> None:
    outer = outer_for(elsewhere(authored), sandbox=sandbox, opaque=sandbox == "strict")
    async with connected(host_page, outer) as session:
        assert (await session.call("session_facts"))["persistent"] is False
        assert await session.call("store", key="kilo", size=1024) == "stored"
        assert await session.call("stored_keys") == ["kilo"]
        assert (await session.call("draw", text="even here"))["text"] == "[even here]"
        await troubles.said("This page has no storage")
    async with connected(
        host_page, outer_for(elsewhere(authored), sandbox=sandbox, opaque=sandbox == "strict")
    ) as session:
        assert await session.call("stored_keys") == []


@pytest.mark.extended
async def test_where_the_browser_lets_it_a_page_of_another_site_keeps_its_values(
    origins: Origins, authored: Bundle, tmp_path: Path
) -> None:
    async with profile_with_third_party_storage(tmp_path / "profile") as context:
        page = await context.new_page()
        await page.goto(f"{origins.host}/page.html")
        outer = outer_for(elsewhere(authored))
        async with connected(page, outer) as session:
            assert (await session.call("session_facts"))["persistent"] is True
            await session.call("store", key="kilo", size=1024)
            await session.call("store", key="data", size=1024, binary=True)
        async with connected(page, outer) as session:
            assert await session.call("stored_keys") == ["data", "kilo"]


# The page. One page serves all of these tests, as a person's session would.


@pytest.fixture(scope="module")
async def shared(
    browser: Browser, origins: Origins, authored: Bundle
) -> AsyncIterator[tuple[Connected, Troubles, BrowserContext]]:
    async with AsyncExitStack() as stack:
        context, troubles = await stack.enter_async_context(new_context(browser))
        page = await context.new_page()
        await page.goto(f"{origins.host}/page.html")
        session = await stack.enter_async_context(connected(page, outer_for(authored), visible=False))
        yield session, troubles, context


@pytest.fixture
def session(shared: tuple[Connected, Troubles, BrowserContext]) -> Connected:
    return shared[0]


@of_every_kind
async def test_the_page_is_told_when_it_is_shown_and_hidden(authored: Bundle, session: Connected) -> None:
    async def until(seen: list[bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while (await session.call("visible"))["seen"] != seen:
                await anyio.lowlevel.checkpoint()

    await until([False])
    session.outer.show()
    await until([False, True])
    session.outer.hide()
    await until([False, True, False])
    assert (await session.call("visible"))["now"] is False
    session.outer.show()
    await until([False, True, False, True])


@of_every_kind
async def test_python_handles_what_happens_in_the_page(authored: Bundle, session: Connected) -> None:
    await session.frame.click("#more")
    await session.frame.click("#more")
    await expect(session.frame.locator("#count")).to_have_text("2")
    await expect(session.frame.locator("#mcpframe-page")).to_be_hidden()


async def test_a_handler_that_fails_is_shown_and_the_tools_go_on(
    session: Connected, shared: tuple[Connected, Troubles, BrowserContext]
) -> None:
    shared[1].expect("The page's handler of 'click' raised ValueError")
    session.outer.show()
    before = int(await session.frame.locator("#count").inner_text())
    await session.frame.click("#fails")
    await expect(session.frame.locator("#mcpframe-error-title")).to_have_text(
        "The page's handler of 'click' raised ValueError: click on fails"
    )
    await expect(session.frame.locator("#mcpframe-error-detail")).to_contain_text("server.py")
    await session.frame.click("#more")
    await expect(session.frame.locator("#count")).to_have_text(str(before + 1))


@pytest.mark.extended
async def test_javascript_modules_are_imported_with_what_they_import(session: Connected) -> None:
    assert await session.call("draw", text="hello") == {
        "text": "[hello]",
        "detail": {"text": "hello", "parts": [1, 2]},
    }
    assert "is not an asset of this page" in await session.call("import_broken", path="absent.js")
    assert "this module is broken" in await session.call("import_broken", path="broken.js")


async def test_assets_are_read_by_python_and_by_url(session: Connected) -> None:
    facts = await session.call("asset_facts")
    assert facts["fetched"] == facts["opened"] == {"fact": 42}
    assert facts["script"] is False  # only the browser needs it
    response = await session.frame.evaluate(
        "async (url) => (await fetch(url)).headers.get('cache-control')", facts["url"]
    )
    assert "immutable" in response
    assert facts["url"].startswith("assets-")


POLICY = ["http://elsewhere.localhost", "connect_src", "tool.mcpframe"]
BLUNDERS: list[tuple[str, str, list[str]]] = [
    ("pyfetch", "http://elsewhere.localhost/x", POLICY),
    ("js.fetch", "http://elsewhere.localhost/x", POLICY),
    ("open_url", "http://elsewhere.localhost/x", POLICY),
    ("pyfetch", "stranger", ["CORS", "Access-Control-Allow-Origin", "http://bundle.host.localhost"]),
    ("js.fetch", "stranger", ["CORS"]),
    ("open_url", "stranger", ["CORS"]),
    ("urllib", "http://elsewhere.localhost/x", POLICY),
    ("connection", "", ["pyodide.http.pyfetch", "csp.connect_src"]),
    ("subprocess", "", ["no processes"]),
    ("exec", "", ["no processes"]),
    ("fork", "", ["no processes"]),
    ("run", "", ["leave out server.run()"]),
    ("import", "mcp.server.fastmcp", ["from mcp.server.mcpserver import MCPServer"]),
    ("import", "not_there", ["requirements"]),
    ("import", "_multiprocessing", ["no processes"]),
    ("zone", "", ["'tzdata'"]),
    ("alarm", "", ["asyncio.timeout"]),
    ("open", "", ["'data/terms.json' to assets"]),
    ("path", "", ["'data/terms.json' to assets"]),
    ("environment", "", ["'API_KEY'", "server.session.storage"]),
    ("input", "", ["elicit"]),
]


@pytest.mark.parametrize(("kind", "url", "words"), BLUNDERS, ids=lambda value: value if isinstance(value, str) else "")
async def test_what_a_page_does_not_have_is_an_error_that_says_what_to_do(
    session: Connected,
    shared: tuple[Connected, Troubles, BrowserContext],
    origins: Origins,
    kind: str,
    url: str,
    words: list[str],
) -> None:
    for part in ("Tool 'blunder'", "Content Security Policy", "CORS policy", "net::ERR_FAILED", "violates"):
        shared[1].expect(part)
    if url == "stranger":
        url = f"{origins.stranger}/host.html"
    with anyio.fail_after(PATIENCE):
        result = await session.client.call_tool("blunder", {"kind": kind, "url": url})
    text = result.content[0].text  # type: ignore[union-attr]
    assert result.is_error
    assert [word for word in words if word not in text] == [], text
    assert "connect_src" not in text or "CORS" not in text


@pytest.mark.extended
async def test_files_are_chosen_one_choice_after_the_other(session: Connected, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "b.txt").write_text("second")
    async with anyio.create_task_group() as tasks:
        given: list[list[str]] = []

        async def choose() -> None:
            given.append(await session.call("chosen"))

        tasks.start_soon(choose)
        await session.frame.set_input_files("#files", [tmp_path / "a.txt", tmp_path / "b.txt"])
    assert given == [["a.txt text/plain 5 first", "b.txt text/plain 6 second"]]
    await session.frame.set_input_files("#files", [tmp_path / "a.txt"])
    assert await session.call("chosen") == ["a.txt text/plain 5 first"]


@pytest.mark.extended
async def test_no_proxy_is_left_of_what_was_listened_to(session: Connected) -> None:
    await session.call("trace_proxies")
    left = await session.call("listen_often", times=50)
    assert left == {"counted": 1, "handlers": 0, "proxies": 0}


@pytest.mark.extended
async def test_showing_another_fragment_ends_what_waits_for_the_first(session: Connected) -> None:
    shown = await session.call("show_inner")
    assert shown["width"] == 1
    assert shown["ran"] is None
    assert "left the page" in shown["lost"]
