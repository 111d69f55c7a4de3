"""The inspector beside the playground's editor: on a run of its own of the project that runs, and of nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import FrameLocator, Page, expect

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.web.host_page import copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles
from tests.browser.inspecting import BOOT, ServerPart
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.browser.test_playground import add, run, write

SERVER = '''
from pathlib import Path
from mcp.server.apps import Apps
from mcpframe import FrameServer, FrameSession, Setup

apps = Apps()

@apps.tool(resource_uri="ui://clock/view")
def now(city: str) -> dict[str, str]:
    """Return the time of a city's clock."""
    return {"city": city, "time": "12:00"}

apps.add_html_resource("ui://clock/view", Path(__file__).with_name("view.html").read_text("utf-8"))
server = FrameServer("clock", extensions=[apps])

@server.resource("clock://zones")
def zones() -> str:
    return "Vienna, Oslo"

@server.prompt()
def ask(city: str) -> str:
    return f"What time is it in {city}?"

@server.setup(visible=True)
async def setup(session: FrameSession) -> Setup:
    await session.page.show("setup.html")
    await session.page.element("#ready").event("click")
    return Setup(title="My clock")
'''
SETUP = "<p>A clock needs winding.</p><button id='ready'>Wind it</button>"


@pytest.fixture(scope="module")
def address(public_site: Path) -> Iterator[str]:
    with serve_folder(public_site.parents[1]) as served:
        yield f"http://localhost:{served.port}/below/site/"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page at another origin, which frames what it is given."""
    folder = tmp_path_factory.mktemp("host")
    copy_host_modules(folder)
    (folder / "index.html").write_text(HOST, "utf-8")
    with serve_folder(folder) as served:
        yield f"http://127.0.0.1:{served.port}/"


HOST = """<!doctype html><link rel="icon" href="data:,">
<script type="module">
import { FrameTransport } from "./host.js";
window.embed = (url) => {
  const iframe = document.body.appendChild(document.createElement("iframe"));
  return new FrameTransport({ iframe, url, timeout: 20_000 }).start().then(() => "started", ({ name }) => name);
};
</script>
"""


FRAMING = """(body, url) => new Promise((resolve) => {
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective));
  body.appendChild(document.createElement("iframe")).src = url;
})"""


async def opened(page: Page) -> tuple[FrameLocator, ServerPart]:
    """Open the inspector beside the editor, wind the clock there, and wait until it is connected."""
    await page.get_by_role("tab", name="In the inspector").click()
    frame = page.frame_locator("#inspector iframe")
    dialog = frame.get_by_role("dialog")
    inside = dialog.frame_locator("iframe").frame_locator("iframe")
    await inside.get_by_role("button", name="Wind it").click(timeout=BOOT)
    part = ServerPart(frame.get_by_role("region", name="My clock", exact=True))
    await expect(part.state).to_contain_text("Connected", timeout=BOOT)
    return frame, part


async def test_setup_lists_views_wire_and_the_end_in_the_inspector(
    page: Page, troubles: Troubles, address: str
) -> None:
    await page.goto(f"{address}playground/#template=minimal")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, SERVER)
    await add(page, "view.html", (checkout_dir() / "docs" / "examples" / "clock" / "view.html").read_text("utf-8"))
    await add(page, "setup.html", SETUP)
    await page.get_by_role("tab", name="In the inspector").click()
    await expect(page.locator("#inspector")).to_contain_text("Run the server")
    await page.get_by_role("tab", name="In the inspector").press("ArrowLeft")
    await page.get_by_role("tab", name="Forms").press("Enter")
    await run(page)
    await expect(page.locator("form.tool")).to_contain_text("now")
    assert await page.locator("#inspector iframe").count() == 0  # nothing of the inspector is fetched yet

    frame, part = await opened(page)
    await expect(frame.locator("#insp-side")).to_be_hidden()
    await part.call("now", city="Vienna")
    await part.answers("12:00")
    view = part.view.get_by_role("region", name="View", exact=True)
    inside = view.frame_locator(".insp-view-frame iframe").frame_locator("iframe")
    await expect(inside.locator("#time")).to_have_text("Vienna: 12:00", timeout=BOOT)
    assert await inside.locator("html").evaluate("() => self.origin") == "null"
    await view.get_by_label("Show as in").select_option(label="Claude")
    await expect(inside.locator("#time")).to_have_text("Vienna: 12:00", timeout=BOOT)
    await part.choose("Resources", "zones")
    await part.button("Read").click()
    await part.answers("Vienna, Oslo")
    await part.choose("Prompts", "ask")
    await part.box("city").fill("Oslo")
    await part.button("Get").click()
    await part.answers("What time is it in Oslo?")
    wire = await part.tab("Wire")
    await expect(wire).to_contain_text("prompts/get")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []

    source = await page.locator("#inspector iframe").get_attribute("src")
    await run(page)  # anew, and so does the inspector
    await expect(page.locator("#inspector iframe")).not_to_have_attribute("src", source or "")
    await opened(page)
    await page.get_by_role("button", name="Stop").click()
    await expect(page.locator("#inspector iframe")).to_have_count(0)
    await expect(page.locator("#inspector")).to_contain_text("Run the server")


async def test_nobody_else_gets_a_lent_project_or_runs_one_by_the_inspector(
    page: Page, troubles: Troubles, address: str, host: str
) -> None:
    """A page of another origin frames `run.html` with the id of a run; a link leads to the inspector of the site."""
    troubles.expect("Only the playground's own site")
    troubles.expect("frame-src")
    await page.goto(f"{address}playground/#template=minimal")
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await run(page)
    await page.get_by_role("tab", name="In the inspector").click()
    state = page.frame_locator("#inspector iframe").locator(".insp-state").first
    await expect(state).to_contain_text("Connected", timeout=BOOT)
    assert (
        await page.frame_locator("#place iframe:not([hidden])").locator("body").evaluate(FRAMING, address)
        == "frame-src"
    )
    lent = next(frame.url for frame in page.frames if "#kept=" in frame.url)

    other = await page.context.new_page()
    await other.goto(host)
    await other.wait_for_function("() => window.embed")
    await other.evaluate("(url) => void embed(url)", lent)
    await expect(other.frame_locator("iframe").locator("#place")).to_have_text(
        "Only the playground's own site may run this project."
    )
    await other.goto(f"{address}gallery/inspector/#add={quote(lent.replace('kept=', '1.'))}")
    await expect(other.get_by_role("dialog", name="Add this server?")).to_be_visible(timeout=BOOT)
    await page.get_by_role("button", name="Stop").click()
    await other.goto(f"{address}docs/index.html")
    await other.evaluate("(url) => void (document.body.appendChild(document.createElement('iframe')).src = url)", lent)
    await expect(other.frame_locator("iframe").locator("#place")).to_have_text("This run of the playground has ended.")
