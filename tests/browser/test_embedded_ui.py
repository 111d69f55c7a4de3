"""A bundle as mcp-ui's embeddable UI, inside the official renderer of npm's `@mcp-ui/client` 6.1.0."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import BrowserContext, FrameLocator, Page, expect

from mcpframe.frame.hosting.mcp_ui.resource import ui_resource
from mcpframe.kit.web.serve import serve_folder
from mcpframe.views import View
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.embedded import asked, say
from tests.browser.ui_hosts import bundle_ui_client

Json = dict[str, Any]
FOREIGN = ("MCP_TRANSPORT_HANDSHAKE", "ui/initialize", "mcp")
"""The types or methods of the calls of other dialects: those of the SEP, of MCP Apps and of MCP-B."""


@pytest.fixture(scope="session")
def embedded(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/embedded`, which the host's origin may embed."""
    return bundle_of("embedded")


@pytest.fixture(scope="session")
def unguarded(embedded: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The same on a web server that sends no policy: `frame-ancestors` has no word for an opaque origin."""
    folder = tmp_path_factory.mktemp("unguarded")
    shutil.copytree(embedded.folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("_headers"))
    with serve_folder(folder, headers={"Access-Control-Allow-Origin": "*"}) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", embedded.path)


@pytest.fixture(scope="session")
def ui_client(site: Path) -> None:
    """The host's page with the official client."""
    bundle_ui_client(site)


class UiHostPage:
    """The page of the host, with one resource in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame: FrameLocator = page.frame_locator("iframe")

    async def open(self, resource: Json, **options: Any) -> None:
        """Render a resource, and wait until its page can be used."""
        await self.page.evaluate("([resource, options]) => ui.open(resource, options)", [resource, options])
        await self.frame.locator("#ready").wait_for()

    async def ask(self, method: str, **arguments: Any) -> Json:
        """Let the page use its host API."""
        return await asked(self.frame, method, **arguments)

    async def set_timeout(self, seconds: float) -> None:
        """Let the page wait for answers that long."""
        await say(self.frame, "timeout", seconds)

    async def taken(self, kind: str) -> Any:
        """Wait for something that the host was told."""
        return await self.page.evaluate("kind => ui.taken(kind)", kind)

    async def all(self, kind: str) -> list[Any]:
        """Return what the host was told and nobody has taken."""
        told: list[Any] = await self.page.evaluate("kind => ui.all(kind)", kind)
        return told

    async def action(self) -> Json:
        """Wait for an action that the page has taken: the calls of other dialects are handed over as well."""
        while True:
            action: Json = await self.taken("action")
            if action.get("type") not in FOREIGN and action.get("method") not in FOREIGN:
                return action


@pytest.fixture
async def host(context: BrowserContext, troubles: Troubles, origins: Origins, ui_client: None) -> UiHostPage:
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(f"{origins.host}/ui_host.html")
    await page.wait_for_function("document.documentElement.dataset.state === 'loaded'")
    return UiHostPage(page)


def link(bundle: Bundle) -> Json:
    """Return the bundle as a resource with an external URL."""
    return {"uri": "ui://test/embedded", "mimeType": "text/uri-list", "text": bundle.url}


async def test_it_draws_the_host_s_data_and_nothing_before(host: UiHostPage, embedded: Bundle) -> None:
    data = {"theme": "dark", "user": {"name": "Ada"}}
    await host.open(link(embedded), answers={}, htmlProps={"iframeRenderData": data})
    await expect(host.frame.locator("#drawn")).to_have_text(json.dumps(data))
    await expect(host.frame.locator("#mcpframe-app")).to_have_attribute("data-drawn", "*")  # sent several times
    source = await host.page.locator("iframe").get_attribute("src")
    assert source is not None
    assert source.endswith("?waitForRenderData=true")
    assert await host.frame.locator("html").get_attribute("data-theme") == "dark"
    assert (await host.ask("render_data"))["result"] == data
    wire = await host.all("wire")
    assert len([message for message in wire if message.get("type") == "ui-lifecycle-iframe-ready"]) == 1
    told = json.dumps([*wire, *await host.all("action")])
    assert not any(json.dumps(foreign) in told for foreign in FOREIGN)  # its address says which host it has


async def test_a_resource_of_ours_has_its_size_and_its_data(host: UiHostPage, embedded: Bundle) -> None:
    """The metadata that `ui_resource` writes, read by the official client."""
    block = ui_resource(View(embedded.url, uri="ui://test/ours"), size=("80%", 456), render_data={"user": "Ada"})
    resource = block.model_dump(mode="json", by_alias=True, exclude_none=True)["resource"]
    await host.open(resource, answers={})
    await expect(host.frame.locator("#drawn")).to_have_text('{"user": "Ada"}')
    style = await host.page.locator("iframe").evaluate("({ style }) => [style.width, style.height]")
    assert style == ["80%", "456px"]


async def test_the_seed_s_host_around_a_bundle(
    context: BrowserContext, troubles: Troubles, origins: Origins, embedded: Bundle
) -> None:
    """A host with twelve lines of its own, which answers nothing but that the page is ready; and one that adds."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/ui_seed_host.html?frame={quote(embedded.url)}")
    frame = page.frame_locator("iframe")
    await expect(frame.locator("#drawn")).to_have_text('{"theme": "dark"}', timeout=BOOT_PATIENCE * 1000)
    await frame.locator("#ready").wait_for()
    assert (await page.evaluate("heard"))[0] == "ui-lifecycle-iframe-ready"
    # A host that makes its frame higher than the page asks for, and a page that is as high as its frame, with margins.
    follow = """addEventListener("message", ({ data }) => {
        if (data.type === "ui-size-change") iframe.style.height = `${data.payload.height + 20}px`;
    })"""
    await page.evaluate(follow)
    await frame.locator("#drawn").evaluate("""element => {
        document.body.style.margin = "10px";
        element.style.height = "100vh";
    }""")
    steady = """async () => {
        let last = [];
        for (let [same, frames] = [0, 0]; same < 30 && frames < 600; same += 1, frames += 1) {
            await new Promise(requestAnimationFrame);
            const now = [iframe.clientHeight, heard.length];
            if (now.join() !== last.join()) same = 0;
            last = now;
        }
        return last;
    }"""
    height, count = await page.evaluate(steady)
    assert height < 1500
    assert count < 30
    await frame.locator("#drawn").evaluate("element => { element.style.height = '777px'; }")
    await page.wait_for_function("() => iframe.clientHeight > 790 && iframe.clientHeight < 1100")
    assert (await page.evaluate(steady))[0] < 1100


async def test_a_host_without_data_and_without_a_handler(host: UiHostPage, embedded: Bundle) -> None:
    await host.open(link(embedded))
    await expect(host.frame.locator("#drawn")).to_have_text("mcp_ui")
    assert (await host.ask("render_data"))["result"] is None
    await host.set_timeout(0.2)
    unanswered = await host.ask("open_link", url="https://example.org/")
    assert (unanswered["error"], unanswered["request"]) == ("HostTimeout", "link")
    assert "may not handle actions" in unanswered["message"]


async def test_foreign_calls_stop_once_the_host_is_recognised(host: UiHostPage, embedded: Bundle) -> None:
    await host.open(link(embedded), answers={})
    actions = await host.all("action")
    assert [action.get("type", action.get("method")) for action in actions] == list(FOREIGN)  # once each, no repetition
    # From then on its user's code gets what the page wants of it, and nothing else.
    await host.ask("intent", intent="go")
    await host.ask("notify", message="gone")
    await host.frame.locator("#drawn").evaluate("element => { element.style.height = '500px'; }")
    while not any(message.get("type") == "ui-size-change" for message in await host.all("wire")):
        await host.page.evaluate("new Promise(requestAnimationFrame)")
    later = (await host.all("action"))[len(FOREIGN) :]
    assert [action["type"] for action in later] == ["intent", "notify"]


ACTIONS: list[tuple[str, Json, str, Json]] = [
    (
        "call_tool",
        {"name": "get-weather", "arguments": {"city": "Tokyo"}},
        "tool",
        {"toolName": "get-weather", "params": {"city": "Tokyo"}},
    ),
    ("call_tool", {"name": "now"}, "tool", {"toolName": "now", "params": {}}),
    ("send_message", {"content": "What is the weather?"}, "prompt", {"prompt": "What is the weather?"}),
    ("open_link", {"url": "https://example.org/"}, "link", {"url": "https://example.org/"}),
    (
        "intent",
        {"intent": "create-task", "params": {"title": "Buy groceries"}},
        "intent",
        {"intent": "create-task", "params": {"title": "Buy groceries"}},
    ),
    ("request_data", {"kind": "methods"}, "ui-request-data", {"requestType": "methods", "params": {}}),
]


async def test_each_action(host: UiHostPage, embedded: Bundle) -> None:
    answers = {
        "tool": ["text", {"content": [{"type": "text", "text": "sunny"}]}],
        "intent": ["text", {"status": "ok"}],
        "ui-request-data": ["text", [1, "two", None]],
    }
    await host.open(link(embedded), answers=answers)
    seen = set()
    for method, arguments, kind, payload in ACTIONS:
        answer = await host.ask(method, **arguments)
        action = await host.action()
        assert (action["type"], action["payload"], set(action)) == (kind, payload, {"type", "messageId", "payload"})
        seen.add(action["messageId"])
        if kind == "tool":
            assert answer["result"]["content"] == [{"type": "text", "text": "sunny"}]
            assert answer["received"] == 1
        else:
            assert answer["result"] == (answers[kind][1] if kind in answers else None)
    assert len(seen) == len(ACTIONS)
    assert all(len(id_) > 40 for id_ in seen)
    assert (await host.ask("notify", message="cart-updated"))["result"] is None
    assert await host.action() == {"type": "notify", "payload": {"message": "cart-updated"}}
    lacking = await host.ask("list_tools")
    assert (lacking["error"], lacking["request"]) == ("HostLacks", "tools/list")


@pytest.mark.extended
async def test_errors_of_any_shape(host: UiHostPage, embedded: Bundle, troubles: Troubles) -> None:
    troubles.expect("Error handling UI action result")
    answers = {
        "tool": ["error", "no such tool"],
        "prompt": ["throws", "not now"],
        "link": ["throws", {"message": "no links", "why": 7}],
        "intent": ["throws", [1, 2]],
        "ui-request-data": ["uncloneable", None],
    }
    await host.open(link(embedded), answers=answers)
    told = {}
    for method, arguments, kind, _ in ACTIONS:
        answer = await host.ask(method, **arguments)
        assert (answer["error"], answer["request"]) == ("HostError", kind)
        told[kind] = answer
    assert "no such tool" in told["tool"]["message"]
    assert told["tool"]["data"] == {"name": "TypeError", "message": "no such tool"}
    assert "not now" in told["prompt"]["message"]
    assert (told["prompt"]["data"], told["link"]["data"]) == ("not now", {"message": "no links", "why": 7})
    assert "no links" in told["link"]["message"]
    assert "[1, 2]" in told["intent"]["message"]
    assert told["ui-request-data"]["data"]["name"] == "DataCloneError"


RELAY = """<!doctype html>
<iframe src="{url}" style="width: 90%; height: 90%"></iframe>
<script>
  const inner = document.querySelector("iframe").contentWindow;
  addEventListener("message", ({{ source, data }}) => {{
    if (source === parent) inner.postMessage(data, "*");
    else if (source === inner) parent.postMessage(data, "*");
  }});
</script>"""
"""HTML text that frames a bundle. In a sandbox without `allow-same-origin` its frames have an opaque origin, too."""


@pytest.mark.extended
async def test_html_text_at_an_opaque_origin(host: UiHostPage, unguarded: Bundle) -> None:
    html = {"uri": "ui://test/html", "mimeType": "text/html", "text": RELAY.format(url=unguarded.url)}
    host.frame = host.page.frame_locator("iframe").frame_locator("iframe")
    data = {"theme": "light"}
    answers = {"intent": ["text", "done"]}
    await host.open(html, answers=answers, htmlProps={"iframeRenderData": data})
    assert await host.page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    await expect(host.frame.locator("#drawn")).to_have_text(json.dumps(data))
    assert await host.frame.locator("html").evaluate("() => self.origin") == "null"
    assert (await host.ask("intent", intent="go"))["result"] == "done"
    assert (await host.action())["payload"] == {"intent": "go", "params": {}}


@pytest.mark.extended
async def test_the_host_follows_the_height_without_a_loop(host: UiHostPage, embedded: Bundle) -> None:
    await host.open(link(embedded), answers={}, htmlProps={"autoResizeIframe": True})
    drawn = host.frame.locator("#drawn")
    heights = []
    for pixels in (300, 900, 200):
        await drawn.evaluate("(element, pixels) => { element.style.height = `${pixels}px`; }", pixels)
        script = "pixels => Math.abs(document.querySelector('iframe').clientHeight - pixels) < 290"
        await host.page.wait_for_function(script, arg=pixels)
        heights.append(await host.page.locator("iframe").evaluate("element => element.clientHeight"))
    assert heights[0] < heights[1] > heights[2]
    frames = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    await host.page.evaluate(frames)
    sizes = [message for message in await host.all("wire") if message.get("type") == "ui-size-change"]
    assert all(set(size["payload"]) == {"height"} and isinstance(size["payload"]["height"], int) for size in sizes)
    assert len(sizes) < 12
