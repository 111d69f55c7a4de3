"""A page in Python as a host of mcp-ui: our own bundle, and pages in JavaScript with the examples of the seed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import BrowserContext, FrameLocator, Page, expect

from mcpframe.frame.hosting.mcp_ui.resource import ui_resource
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import PAGES, Troubles
from tests.browser.embedded import asked
from tests.support.built import SERVERS, SNAPSHOTS, build_plain

Json = dict[str, Any]
EXAMPLES = "ui_examples.html"
URI = "ui://test/it"


@dataclass(frozen=True)
class Site:
    """One folder, served at several origins."""

    port: int

    def at(self, name: str, path: str) -> str:
        """Return the address of a file at an origin."""
        return f"http://{name}.localhost:{self.port}/{path}"


@pytest.fixture(scope="module")
def ui_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The host's page, the bundle of `servers/embedded`, the page of examples and the sandbox proxy."""
    folder = tmp_path_factory.mktemp("ui_site")
    with serve_folder(folder) as served:
        build(SERVERS / "hosting_ui", folder, snapshot=SNAPSHOTS)
        project = shutil.copytree(SERVERS / "hosting_ui", tmp_path_factory.mktemp("projects") / "sandboxed")
        config = project / "pyproject.toml"
        text = config.read_text("utf-8").replace('"hosting-ui"', '"sandboxed"')
        config.write_text(text.replace("kind =", 'sandbox_origin = "https://sandbox.example"\nkind ='), "utf-8")
        build_plain(project, folder)
        build(
            SERVERS / "embedded", folder, allowed_origins=[f"http://host.localhost:{served.port}"], snapshot=SNAPSHOTS
        )
        for path in (PAGES / EXAMPLES, static_dir() / "app" / "sandbox.html"):
            shutil.copy(path, folder)
        yield Site(served.port)


class HostingPage:
    """The host's page, with one resource in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame: FrameLocator = page.frame_locator("#place iframe")

    async def say(self, **told: Any) -> None:
        """Have the page do something."""
        await self.page.locator("#call").fill(json.dumps(told))
        await self.page.locator("#call").dispatch_event("say")

    async def open(self, block: Any, **told: Any) -> None:
        """Show a resource."""
        resource = block if isinstance(block, dict) else block.model_dump(mode="json", by_alias=True, exclude_none=True)
        await self.say(resource=resource, **told)

    async def noted(self, *expected: list[Any]) -> None:
        """Expect what the host's functions were called with."""
        await expect(self.page.locator("#notes")).to_have_text(json.dumps(list(expected)))

    async def heard(self, *expected: str) -> None:
        """Expect what the page of examples was answered with."""
        await expect(self.frame.locator("#heard li")).to_have_text(list(expected))


@pytest.fixture
async def hosting(context: BrowserContext, troubles: Troubles, ui_site: Site) -> HostingPage:
    page = await context.new_page()
    await page.goto(ui_site.at("host", "hosting-ui/"))
    await page.locator("#call").wait_for(timeout=BOOT_PATIENCE * 1000)
    return HostingPage(page)


def examples(site: Site, **options: Any) -> Any:
    return ui_resource(URI, url=site.at("tools", EXAMPLES), **options)


ALL = {kind: ["text", None] for kind in ("intent", "notify", "prompt", "link")}
ANSWERS = {**ALL, "tool": ["text", {"content": []}], "data": ["text", ["card"]]}
SEEN: dict[str, list[Any]] = {
    "intent": ["intent", "create-task", {"title": "Buy groceries", "description": "Buy groceries for the week"}],
    "notify": ["notify", "cart-updated"],
    "prompt": ["prompt", "What is the weather in Tokyo?"],
    "tool": ["tool", "get-weather", {"city": "Tokyo"}],
    "link": ["link", "https://www.google.com"],
    "data": ["data", "get-payment-methods", {}],
}
HEARD = [
    *["received undefined"] * 3,
    *("received t", 't: {"content":[]}', "received l", "l: null", "received 123", '123: ["card"]'),
]


async def each_message(hosting: HostingPage) -> None:
    """Post each message of the examples, and expect what it leads to."""
    noted: list[list[Any]] = []
    for button, seen in SEEN.items():
        await hosting.frame.locator(f"#{button}").click()
        noted.append(seen)
        await hosting.noted(*noted)
    await hosting.heard(*HEARD)


async def test_the_examples_by_their_address(hosting: HostingPage, ui_site: Site) -> None:
    data = {"theme": "dark"}
    await hosting.open(examples(ui_site, render_data=data, size=("50%", 300)), answers=ANSWERS)
    await expect(hosting.frame.locator("#ui")).to_have_text('{"theme":"dark"}')
    iframe = hosting.page.locator("#place iframe")
    assert await iframe.get_attribute("sandbox") == "allow-scripts allow-same-origin"
    assert await iframe.get_attribute("src") == ui_site.at("tools", f"{EXAMPLES}?waitForRenderData=true")
    assert await iframe.evaluate("element => [element.style.width, element.style.height]") == ["50%", "300px"]
    await each_message(hosting)
    await hosting.frame.locator("#request").click()
    await expect(hosting.frame.locator("#requested")).to_have_text('{"theme":"dark"}')
    await hosting.say(render={"theme": "light"})
    await hosting.frame.locator("#request").click()
    await expect(hosting.frame.locator("#requested")).to_have_text('{"theme":"light"}')
    await hosting.say(close=True)
    await expect(iframe).to_have_count(0)


async def test_the_examples_as_html_text_behind_a_proxy(hosting: HostingPage, ui_site: Site) -> None:
    html = (PAGES / EXAMPLES).read_text("utf-8")
    options = {"proxy": ui_site.at("sandbox", "sandbox.html"), "render_data": {"a": 1}}
    hosting.frame = hosting.page.frame_locator("#place iframe").frame_locator("iframe")
    await hosting.open(ui_resource(URI, html=html, blob=True), answers=ANSWERS, options=options)
    await expect(hosting.frame.locator("#ui")).to_have_text("null")  # HTML text has no address
    assert await hosting.frame.locator("html").evaluate("() => self.origin") == "null"
    await each_message(hosting)
    await hosting.frame.locator("#request").click()
    await expect(hosting.frame.locator("#requested")).to_have_text('{"a":1}')


@pytest.mark.extended
async def test_html_text_in_the_sandbox_that_the_page_was_built_with(hosting: HostingPage, ui_site: Site) -> None:
    """On this machine it is at the other name of this machine."""
    await hosting.page.goto(ui_site.at("host", "sandboxed/"))
    await hosting.page.locator("#call").wait_for(timeout=BOOT_PATIENCE * 1000)
    html = (PAGES / EXAMPLES).read_text("utf-8")
    await hosting.open(ui_resource(URI, html=html), answers=ANSWERS)
    hosting.frame = hosting.page.frame_locator("#place iframe").frame_locator("iframe")
    source = await hosting.page.locator("#place iframe").get_attribute("src")
    assert source is not None
    assert source.startswith(f"http://127.0.0.1:{ui_site.port}/_mcpframe/sandbox.")
    await hosting.frame.locator("#tool").click()
    await hosting.heard("received t", 't: {"content":[]}')
    assert await hosting.frame.locator("html").evaluate("() => self.origin") == "null"
    await hosting.say(close=True)
    own = ui_site.at("host", "sandbox.html")
    await hosting.open(ui_resource(URI, html=html), options={"proxy": own})
    refused = f"{own} is of this page's own origin: serve the sandbox on another one."
    await hosting.noted(["tool", "get-weather", {"city": "Tokyo"}], ["closed"], ["error", "OriginError", refused])


async def test_html_text_needs_a_sandbox_in_a_bundle(hosting: HostingPage) -> None:
    """The policy of the bundle would forbid its scripts and styles."""
    await hosting.open(ui_resource(URI, html="<p id='ui'>Hello<script>document.body.textContent = 'ran'</script>"))
    await expect(hosting.page.locator("#notes")).to_contain_text('["error", "StateError",')
    await expect(hosting.page.locator("#notes")).to_contain_text("sandbox_origin")
    await expect(hosting.page.locator("#place iframe")).to_have_count(0)


async def test_errors_reach_the_page(hosting: HostingPage, ui_site: Site, troubles: Troubles) -> None:
    troubles.expect("failed")
    answers = {"tool": ["raises", "no such tool"], "data": ["set", None]}
    await hosting.open(examples(ui_site), answers=answers)
    await expect(hosting.frame.locator("#ui")).to_have_text("null")
    await hosting.frame.locator("#tool").click()
    await expect(hosting.frame.locator("#heard li")).to_have_text(["received t", "t: error LookupError: no such tool"])
    await hosting.frame.locator("#data").click()
    await expect(hosting.frame.locator("#heard li").last).to_contain_text("123: error TypeError")
    await hosting.frame.locator("#link").click()
    await expect(hosting.frame.locator("#heard li").last).to_have_text("l: error This host does not handle 'link'.")


SIZES: list[tuple[Any, list[str]]] = [
    (True, ["320px", "456px"]),
    ("height", ["100%", "456px"]),
    (False, ["100%", "100%"]),
]
"""The frame's width and height, for each `auto_resize`."""
SIZED = """([width, height]) => {
  const { style } = document.querySelector("#place iframe");
  return style.height === height && style.width.includes(width);
}"""


@pytest.mark.extended
async def test_the_frame_follows_the_page(hosting: HostingPage, ui_site: Site) -> None:
    for auto_resize, size in SIZES:
        await hosting.open(examples(ui_site), answers=ANSWERS, options={"auto_resize": auto_resize})
        await hosting.frame.locator("#size").click()
        await hosting.frame.locator("#tool").click()
        await hosting.heard("received t", 't: {"content":[]}')
        await hosting.page.wait_for_function(SIZED, arg=size)
        await hosting.say(close=True)
        await expect(hosting.page.locator("#place iframe")).to_have_count(0)


async def test_a_page_of_the_host_s_own_origin_cannot_reach_it(hosting: HostingPage, ui_site: Site) -> None:
    await hosting.open(ui_resource(URI, url=ui_site.at("host", EXAMPLES)), answers=ANSWERS)
    await hosting.frame.locator("#tool").click()
    await hosting.heard("received t", 't: {"content":[]}')
    assert await hosting.frame.locator("html").evaluate("() => self.origin") == "null"


async def test_our_bundle_in_our_host(hosting: HostingPage, ui_site: Site) -> None:
    data = {"theme": "dark", "user": "Ada"}
    block = ui_resource(URI, url=ui_site.at("tools", "embedded/"), render_data=data)
    answers = {"tool": ["text", "sunny"], "intent": ["raises", "not now"]}
    await hosting.open(block, answers=answers, options={"auto_resize": "height"})
    frame = hosting.frame
    await frame.locator("#ready").wait_for(timeout=BOOT_PATIENCE * 1000)
    await expect(frame.locator("#drawn")).to_have_text(json.dumps(data))
    assert (await asked(frame, "call_tool", name="weather"))["result"]["content"] == [{"type": "text", "text": "sunny"}]
    failed = await asked(frame, "intent", intent="go")
    assert failed["error"] == "HostError"
    assert "LookupError: not now" in failed["message"]
    assert (await asked(frame, "open_link", url="https://x.example/"))["error"] == "HostLacks"
    await hosting.say(render={"theme": "light"})
    await expect(frame.locator("#drawn")).to_have_text('{"theme": "light"}')
    await expect(frame.locator("html")).to_have_attribute("data-theme", "light")
    height = "() => document.querySelector('#place iframe').style.height.endsWith('px')"
    await hosting.page.wait_for_function(height)


async def test_remote_dom_is_an_error_that_says_so(hosting: HostingPage, ui_site: Site) -> None:
    kind = "application/vnd.mcp-ui.remote-dom+javascript; framework=react"
    await hosting.open({"uri": URI, "mimeType": kind, "text": "root.append('x')"})
    told = f"{URI} is a remote-dom script, which is not shown here: only HTML text and addresses are."
    await hosting.noted(["error", "UiError", told])
