"""The playground as a person uses it: write, run, call, break, mend, stop, keep, share, and open elsewhere."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Browser, Dialog, Error, Page, Route, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_client, copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles, new_context
from tests.browser.engines import Engine, until
from tests.browser.test_accessibility import SCHEMES, complaints

SERVER = '''
import threading
import words
from mcpframe import FrameServer

server = FrameServer("shouting")

@server.tool()
def shout(text: str, times: int = 1) -> str:
    """Shout it."""
    print("asked for", text)
    return words.loud(text) * times

@server.tool()
def forever() -> None:
    while True:
        pass
'''
WORDS = "def loud(text):\n    return text.upper() + '!'\n"
DRAWING = """
from mcpframe import FrameServer

server = FrameServer("drawing")

@server.ui
async def ui(session):
    await session.page.show("page.html")
    module = await session.page.import_module("page.js")
    session.page.element("main p").text = module.greeting()

@server.tool()
async def nothing() -> str:
    return "nothing"
"""
EMBEDDING = """<!doctype html><link rel="icon" href="data:,">
<script type="module">
import { FrameTransport } from "./host.js";
import { Client } from "./mcp-client.js";
window.embed = async (url, timeout) => {
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const client = new Client({ name: "host", version: "1" });
  await client.connect(new FrameTransport({ iframe, url, timeout }));
  const { content } = await client.callTool({ name: "shout", arguments: { text: "hello" } });
  return content[0].text;
};
</script>
"""
STARTING = 60_000


@pytest.fixture(scope="module")
def address(public_site: Path) -> Iterator[str]:
    with serve_folder(public_site.parents[1]) as served:
        yield f"http://localhost:{served.port}/below/site/"


async def write(page: Page, text: str) -> None:
    """Replace the text of the file that is shown, as a paste does."""
    await page.locator(".cm-content").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


async def add(page: Page, path: str, text: str) -> None:
    page.once("dialog", lambda dialog: dialog.accept(path))
    await page.get_by_role("button", name="Add a file").click()
    await write(page, text)


async def run(page: Page) -> None:
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#status")).to_have_text("Running", timeout=STARTING)


async def test_write_run_call_break_mend_stop_keep_share_open(
    browser: Browser, page: Page, troubles: Troubles, address: str
) -> None:
    troubles.expect("NameError")  # the server's own
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.goto(f"{address}playground/")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    spare = await page.locator("#place iframe[hidden]").element_handle()
    assert spare is not None
    await write(page, SERVER)
    await add(page, "words.py", WORDS)
    await run(page)
    assert await spare.evaluate("(iframe) => iframe.isConnected && !iframe.hidden")  # this run is in it
    others = (await (await page.request.get(f"{address}playground/files.json")).json())["others"]
    assert {path.rpartition("/")[2] for path in others.values()}.isdisjoint(url.rpartition("/")[2] for url in fetched)

    shout = page.locator("form.tool", has_text="shout")
    await shout.get_by_label("text").fill("hello")
    await shout.get_by_label("times").fill("2")
    await shout.get_by_role("button", name="Call").click()
    await expect(shout.locator("output")).to_have_text("HELLO!HELLO!")
    await expect(page.get_by_role("log", name="Console")).to_contain_text("asked for hello")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []

    await write(page, WORDS.replace("'!'", "mark") + "loud('') if mark else 0\n")
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#status")).to_have_text("Stopped", timeout=STARTING)
    await expect(page.get_by_role("log", name="Console")).to_contain_text("NameError")
    await expect(page.get_by_role("tab", name="words.py")).to_have_attribute("aria-selected", "true")
    await expect(page.locator(".from-run").first).to_be_visible()  # the code help marks the line, too
    await write(page, WORDS)
    await run(page)
    await expect(shout.get_by_label("text")).to_have_value("hello")

    forever = page.locator("form.tool", has_text="forever")
    await forever.get_by_role("button", name="Call").click()
    await expect(forever.locator("output")).to_have_text("Running …")
    await page.get_by_role("button", name="Stop").click()
    await expect(forever.locator("output")).to_contain_text("Stopped in the playground", timeout=STARTING)
    await shout.get_by_role("button", name="Call").click()
    await expect(shout.locator("output")).to_have_text("HELLO!HELLO!", timeout=STARTING)

    await expect(page.locator("#saved")).to_have_text("Saved in this browser")
    await page.reload()
    await expect(page.locator(".cm-content")).to_contain_text('FrameServer("shouting")')

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    with zipfile.ZipFile(await (await download.value).path()) as archive:
        assert archive.testzip() is None
        assert archive.read("words.py").decode() == WORDS
    await page.get_by_role("button", name="Share").click()
    await expect(page.get_by_label("Link")).to_have_value(re.compile(r"#1\.[\w-]+$"))
    link = await page.get_by_label("Link").input_value()
    async with new_context(browser) as (elsewhere, _):
        reader = await elsewhere.new_page()
        await reader.goto(link)
        await expect(reader.locator("#notice")).to_contain_text("Read it before you run it")
        await expect(reader.locator("iframe:not([hidden])")).to_have_count(0)
        assert "#" not in reader.url
        await run(reader)
        await expect(reader.locator("form.tool")).to_have_count(2)


async def test_controls_are_disabled_until_a_click_counts(page: Page, address: str) -> None:
    """The script that listens to them is held back, then the project: no click is lost, and no unread code runs."""
    held = {name: anyio.Event() for name in ("main", "templates")}
    arrived = {name: anyio.Event() for name in held}

    async def hold(route: Route) -> None:
        name = "main" if "/main-" in route.request.url else "templates"
        arrived[name].set()
        await held[name].wait()
        await route.continue_()

    await page.route(re.compile(r"/chunks/main-|/templates\.json"), hold)
    await page.goto(f"{address}playground/#template=minimal", wait_until="domcontentloaded")
    await arrived["main"].wait()
    run_button = page.get_by_role("button", name="Run", exact=True)
    controls = page.locator("header, .tabs, .help").locator("button, select, input")
    enabled = [await control.get_attribute("id") for control in await controls.all() if await control.is_enabled()]
    assert enabled == ["in-forms"]  # the tab that is selected
    box = await run_button.bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    held["main"].set()
    await arrived["templates"].wait()
    await expect(page.get_by_role("button", name="New", exact=True)).to_be_enabled()
    await expect(run_button).to_be_disabled()
    held["templates"].set()
    await expect(run_button).to_be_enabled()
    await expect(page.locator("#status")).to_have_text("Not running")
    await run_button.click()
    await expect(page.locator("#status")).to_have_text("Running", timeout=STARTING)
    await expect(page.locator("header, .tabs").locator("button:disabled")).to_have_count(0)


async def test_the_site_works_again_without_its_server(page: Page, troubles: Troubles, public_site: Path) -> None:
    """After one visit: the front page with its server, the playground with a run, and a page of the documentation."""
    kept = "() => navigator.serviceWorker.controller.scriptURL === `${document.baseURI}offline.js`"
    with serve_folder(public_site.parents[1]) as served:
        address = f"http://localhost:{served.port}/below/site/"
        await page.goto(address)
        await page.wait_for_function("() => navigator.serviceWorker.controller")
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            assert await complaints(page) == []
        await calculate(page)
        await page.get_by_role("link", name="Read the documentation").click()
        await expect(page.get_by_role("heading")).to_have_text("Documentation")
        await page.goto(f"{address}playground/")
        await page.wait_for_function(kept)
    troubles.expect("ERR_CONNECTION_REFUSED")
    troubles.expect("ERR_FAILED")  # what a page fetches once it is quiet, which the first visit was too short for
    await page.reload()
    await run(page)
    for value, field in enumerate(await page.locator("form.tool input").all(), 2):
        await field.fill(str(value))
    await page.get_by_role("button", name="Call").click()
    await expect(page.locator("form.tool output")).to_have_text("5")
    await page.goto(f"{address}docs/index.html")
    await expect(page.get_by_role("heading")).to_have_text("Documentation")
    await page.goto(address)
    await calculate(page)


async def calculate(page: Page) -> None:
    """Start the front page's server, and call its first tool."""
    element = page.locator("mcp-server")
    await element.get_by_role("button", name="Start").click()
    tool = element.locator("details").first
    await tool.locator("summary").click(timeout=STARTING)
    await tool.get_by_label("Iterations").fill("100000")
    await tool.get_by_role("button", name="Call").click()
    await expect(tool.locator("[part~=result]")).to_contain_text("3.1", timeout=STARTING)


async def test_a_link_is_a_server_for_the_pages_that_it_allows(
    page: Page, troubles: Troubles, address: str, public_site: Path
) -> None:
    """The host is at another origin; a page of a third one is refused; opened by itself it leads to the playground."""
    (public_site / "host.html").write_text(EMBEDDING)
    copy_host_modules(public_site)
    shutil.copy(bundle_client(install_locked(checkout_dir())), public_site / "mcp-client.js")
    host = address.replace("localhost", "127.0.0.1")
    origin = host.removesuffix("/below/site/")
    await page.goto(f"{address}playground/")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, SERVER)
    await add(page, "words.py", WORDS)
    await page.get_by_role("button", name="Share").click()
    await expect(page.locator("#embed-note")).to_contain_text("http://localhost:8000")  # the template's
    await page.get_by_role("button", name="Close").click()
    await page.get_by_role("tab", name="pyproject.toml").click()
    await write(page, f'[tool.mcpframe]\nentry = "server:server"\nallowed_origins = ["{origin}"]\n')
    await page.get_by_role("button", name="Share").click()
    await expect(page.locator("#embed-note")).to_contain_text(origin)
    assert await complaints(page) == []
    url = await page.get_by_label("As a server in other pages").input_value()

    await page.goto(f"{host}host.html")
    await page.wait_for_function("() => window.embed")
    assert await page.evaluate("(url) => embed(url)", url) == "HELLO!"
    await expect(page.frame_locator("iframe").locator("iframe")).to_have_attribute(
        "sandbox", "allow-scripts allow-forms"
    )
    await page.goto(f"{address.replace('localhost', 'stranger.localhost')}host.html")
    await page.wait_for_function("() => window.embed")
    with pytest.raises(Error, match="does not allow"):
        await page.evaluate("(url) => embed(url)", url)
    await page.goto(url)
    await page.get_by_role("link", name="Open it in the playground").click()
    await expect(page.locator("#notice")).to_contain_text("Read it before you run it")


async def test_a_server_with_a_page_of_its_own(page: Page, address: str) -> None:
    await page.goto(f"{address}playground/#template=minimal")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, DRAWING)
    await add(page, "page.html", "<p></p>")
    await add(page, "page.js", "export const greeting = () => 'Drawn.';")
    await run(page)
    await expect(page.frame_locator("iframe:not([hidden])").locator("main p")).to_have_text("Drawn.")


async def menu(page: Page, name: str) -> None:
    await page.locator("#project-menu summary").click()
    await page.get_by_role("button", name=name, exact=True).click()


async def test_versions_resets_and_deletions_can_be_had_back(page: Page, troubles: Troubles, address: str) -> None:
    troubles.expect("The server did not start")
    text, told = page.locator(".cm-content"), page.locator("#notice")
    await page.goto(f"{address}playground/#template=minimal")
    await expect(text).to_contain_text("def add(")
    await write(page, "first = 1")
    await page.get_by_role("button", name="Run").click()  # keeps a version; it has no server
    await expect(page.locator("#status")).to_have_text("Stopped", timeout=STARTING)
    await write(page, "second = 2")
    await menu(page, "Reset to the template")
    await expect(text).to_contain_text("def add(")
    await told.get_by_role("button", name="Undo").click()
    await expect(text).to_have_text("second = 2")

    await menu(page, "History")
    history = page.get_by_role("dialog", name="History")
    await expect(history.locator("li")).to_have_text(
        [
            re.compile("The template, before an undo.*server.py"),
            re.compile("Before the reset.*server.py"),
            re.compile("Run.*server.py"),
        ]
    )
    assert await complaints(page) == []
    await history.get_by_role("button", name="Restore").last.click()
    await expect(text).to_have_text("first = 1")

    page.once("dialog", lambda dialog: dialog.accept("main.py"))
    await page.get_by_role("button", name="Rename this file").click()
    await page.get_by_role("button", name="Delete this file").click()
    await expect(page.get_by_role("tab", name="main.py")).to_have_count(0)
    await told.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("tab", name="main.py")).to_have_attribute("aria-selected", "true")
    await expect(text).to_have_text("first = 1")

    await page.get_by_role("tab", name="pyproject.toml").click()
    await write(page, '[project]\nname = "x"\ndependencies = ["mcpframe", "numpy>=2", "pydantic<2"]\n')
    await page.get_by_role("button", name="Run").click()
    log = page.get_by_role("log", name="Console")
    await expect(log).to_contain_text(re.compile("pydantic is .* which is not <2"))

    page.once("dialog", lambda dialog: dialog.accept("Renamed"))
    await menu(page, "Rename")
    await expect(page.locator("#projects option:checked")).to_have_text("Renamed")
    await menu(page, "Delete")
    await expect(told).to_contain_text("Renamed is deleted")
    await expect(page.locator("#projects option", has_text="Renamed")).to_have_count(0)
    await told.get_by_role("button", name="Undo").click()
    await expect(text).not_to_have_text("first = 1")  # the first file is another one
    await expect(page.locator("#projects option:checked")).to_have_text("Renamed")
    await menu(page, "Delete")
    await page.get_by_role("button", name="New").click()
    await page.get_by_label("From").select_option("Renamed")
    await page.get_by_role("button", name="Create").click()
    await expect(page.locator("#projects option:checked")).to_have_text("Renamed")


async def test_a_second_tab_takes_a_project_over_as_the_first_left_it(page: Page, address: str) -> None:
    await page.goto(f"{address}playground/#template=minimal")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, "old = 1")
    await expect(page.locator("#saved")).to_have_text("Saved in this browser")
    other = await page.context.new_page()
    await other.goto(f"{address}playground/")
    await expect(other.locator("#notice")).to_contain_text("read-only")
    await expect(other.locator(".cm-content")).to_have_text("old = 1")
    await page.bring_to_front()
    await write(page, "new = 2")
    await page.close(run_before_unload=True)
    await other.get_by_role("button", name="Edit here").click()
    await expect(other.locator(".cm-content")).to_have_text("new = 2")
    await write(other, "newer = 3")
    await expect(other.locator("#saved")).to_have_text("Saved in this browser")


async def test_a_full_storage_is_told_before_anything_is_lost(page: Page, troubles: Troubles, address: str) -> None:
    devtools = await page.context.new_cdp_session(page)
    quota = {"origin": address.rstrip("/")}
    await devtools.send("Storage.overrideQuotaForOrigin", {**quota, "quotaSize": 1})
    await page.goto(f"{address}playground/#template=minimal")
    await expect(page.locator("#notice")).to_contain_text("storage is full")
    await expect(page.locator("#saved")).to_have_text("Not saved")
    await write(page, "kept = 1")
    asked: list[str] = []

    async def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.dismiss()

    page.on("dialog", stay)
    await page.get_by_role("button", name="New").click()
    async with page.expect_event("dialog"):
        await page.get_by_role("button", name="Create").click()
    await expect(page.locator(".cm-content")).to_have_text("kept = 1")
    async with page.expect_event("dialog"):
        await page.close(run_before_unload=True)
    await devtools.send("Storage.overrideQuotaForOrigin", quota)
    await write(page, "kept = 2")
    await expect(page.locator("#saved")).to_have_text("Saved in this browser")
    assert asked == ["confirm", "beforeunload"]


async def test_hostile_links_are_shown_and_marked_or_refused_and_nothing_runs_in_a_frame(
    page: Page, troubles: Troubles, address: str
) -> None:
    await page.goto(f"{address}playground/")
    made = await page.evaluate(
        """async () => {
          const pack = async (value) => {
            const json = new Blob([typeof value === "string" ? value : JSON.stringify(value)]);
            const stream = json.stream().pipeThrough(new CompressionStream("deflate-raw"));
            const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
            let text = "";
            for (const byte of bytes) text += String.fromCharCode(byte);
            return "#1." + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
          };
          const name = "<img src=x onerror=alert(1)>";
          return {
            marked: await pack({ name, files: { "server.py": "# \\u202e<script>x</script>\\nimport \\u200bos\\n" } }),
            outside: await pack({ name, files: { "../server.py": "" } }),
            bomb: await pack("[" + " ".repeat(50_000_000) + "]"),
            damaged: "#1.AAAA",
          };
        }"""
    )
    await page.goto("about:blank")
    await page.goto(f"{address}playground/", wait_until="commit")  # a link while the first project is still opening
    await page.evaluate("async (hash) => { location.hash = hash; }", made["marked"])
    await expect(page.locator("#hidden-warning")).to_contain_text("server.py, line 1, 2")
    await expect(page.locator(".cm-specialChar")).to_have_count(2)
    for name, reason in (("outside", "leaves the folder"), ("bomb", "too large"), ("damaged", "damaged")):
        await page.goto("about:blank")
        await page.goto(f"{address}playground/{made[name]}")
        await expect(page.locator("#notice")).to_contain_text(reason)
    await page.goto(f"{address}frame.html")
    framed = page.frame_locator("iframe")
    await framed.get_by_role("button", name="Run").click()
    await expect(framed.locator("#notice")).to_contain_text("in another page's frame")
    await expect(framed.locator("iframe")).to_have_count(0)


@pytest.mark.extended
def test_other_engines_run_a_template_and_a_link(engine: Engine, address: str) -> None:
    """What a person does first, in Firefox and WebKitGTK: run, call, share, and open the link."""
    engine.open(f"{address}playground/#template=minimal")
    until(engine, "document.title.startsWith('minimal')")
    run_and_add(engine)
    engine.run("document.getElementById('share').click()")
    until(engine, "document.getElementById('link').value")
    engine.open(engine.run("return document.getElementById('link').value"))
    until(engine, "document.getElementById('notice')?.textContent.includes('Read it before you run it')")
    run_and_add(engine)


def run_and_add(engine: Engine) -> None:
    """Run the template's server, and call its tool."""
    engine.run("document.getElementById('run').click()")
    until(engine, "document.querySelector('form.tool input')")
    engine.run(
        """const [one, other] = document.querySelectorAll("form.tool input");
        [one.value, other.value] = ["2", "3"];
        document.querySelector("form.tool").requestSubmit();"""
    )
    until(engine, "document.querySelector('form.tool output').textContent === '5'")
