"""The text of a view inside the official AppBridge: a sandbox proxy writes it into a frame, with a policy of each kind.

It shows the bundle in a frame, else in its own document, else it shows the tool's result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext, Frame, FrameLocator, Page, expect

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from mcpframe.views.html import view_html, view_meta
from tests.browser.apps_hosts import CONTEXT, AppsHost
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.bundle.conftest import write_project
from tests.contract.playing import held
from tests.support.built import SERVERS, SNAPSHOTS
from tests.support.suites import extended

OPAQUE = {"sandbox": "allow-scripts"}
LOADER = "**/loader.*.js"
CITY = {"city": "Wien"}
LONG = 5_000_000
RESULT = {"content": [{"type": "text", "text": "21 °C\n" * 20}]}


@pytest.fixture(scope="session")
def viewed(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The bundle of `servers/view`, for views in sandboxes only."""
    folder = tmp_path_factory.mktemp("viewed")
    lists = {"sep": [origins.stranger], "mcp_apps": [sandbox(origins), "null"]}
    with serve_folder(folder) as served:
        origin = f"http://bundle.localhost:{served.port}"
        built = build(SERVERS / "view", folder, allowed_origins=lists, url=f"{origin}/view/", snapshot=SNAPSHOTS)
        assert "frame-ancestors" not in built.manifest["csp"]  # which would keep opaque ancestors out
        yield Bundle(folder, origin, built.url_path)


def sandbox(origins: Origins) -> str:
    """Return the origin of the host's sandboxes."""
    return f"http://sandbox.localhost:{origins.port}"


def policy(**directives: str) -> str:
    """Return the specification's policy for a view, with these sources."""
    given = {
        "default-src": "'none'",
        "script-src": "'self' 'unsafe-inline'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "connect-src": "'none'",
        "frame-src": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
    }
    given |= {name.replace("_", "-"): sources for name, sources in directives.items()}
    return "; ".join(f"{name} {sources}" for name, sources in given.items())


class SandboxHost:
    """A host that shows views in a sandbox proxy."""

    def __init__(self, host: AppsHost) -> None:
        self._host = host
        self.page = host.page
        self.call, self.tool, self.taken = host.call, host.tool, host.taken
        self.view = host.page.frame_locator("iframe").frame_locator("iframe")

    async def open(self, html: str, **options: Any) -> dict[str, Any]:
        """Show a view; return what it says of itself."""
        given = options.pop("policy", None) or policy()
        html = html.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{given}">')
        return await self._host.open(html=html, **options)

    async def said(self, *methods: str) -> list[int]:
        """Return how many messages of these methods the view has posted."""
        seen = [await self.taken("wire") for _ in range(await self.page.evaluate("() => apps.count('wire')"))]
        return [sum(message.get("method") == method for message in seen) for method in methods]

    async def height_of(self, pixels: int) -> None:
        """Wait until the view reports at least this height."""
        while (await self.taken("size"))["height"] < pixels:
            pass

    async def sees_the_result(self, why: str) -> None:
        """Check what stands in for a view that does not run."""
        alert = self.view.get_by_role("alert")
        await expect(alert).to_contain_text(why)
        await self.call("sendToolResult", RESULT)
        await expect(self.view.locator("#mcpframe-stand-in pre")).to_contain_text("21 °C")
        await self.height_of(200)
        assert await self.call("teardownResource", {"reason": "done"}) == {"result": {}}


@pytest.fixture
async def host(context: BrowserContext, troubles: Troubles, origins: Origins, app_bridge: str) -> SandboxHost:
    url = f"{sandbox(origins)}/apps_sandbox.html"
    return SandboxHost(await AppsHost.load(context, origins, url, app_bridge))


async def origin_of(frame: FrameLocator) -> str:
    origin: str = await frame.locator("html").evaluate("() => self.origin")
    return origin


async def test_a_bundle_in_a_frame_is_a_view_as_it_is(host: SandboxHost, viewed: Bundle) -> None:
    said = await host.open(view_html(viewed.url), policy=policy(frame_src=viewed.origin), context=CONTEXT)
    assert said["appInfo"] == {"name": "view", "version": "1.4", "title": "A view"}
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    await host.call("sendToolInput", {"arguments": {"place": "Wien"}})
    await host.call("sendToolResult", RESULT)
    bundle = host.view.frame_locator("iframe")
    await expect(bundle.locator("#told")).to_contain_text("21 °C")
    for frame in (host.view, bundle):
        assert await frame.locator("html").evaluate("element => element.style.colorScheme") == "dark"
    await host.tool("grow", pixels=2000)
    await host.height_of(2000)
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


async def test_in_a_sandbox_without_an_origin_everything_has_an_opaque_one(host: SandboxHost, viewed: Bundle) -> None:
    html = view_html(viewed.url)
    said = await host.open(html, policy=policy(frame_src=viewed.origin), sandbox="allow-scripts")
    assert said["appInfo"]["name"] == "view"
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    assert await origin_of(host.view) == await origin_of(host.view.frame_locator("iframe")) == "null"


async def test_a_host_that_allows_neither_frames_nor_webassembly(
    host: SandboxHost, viewed: Bundle, troubles: Troubles
) -> None:
    for part in ("frame-src", "WebAssembly"):
        troubles.expect(part)
    said = await host.open(view_html(viewed.url), context={**CONTEXT, "theme": "dark"})
    assert said["appInfo"]["name"] == "mcpframe"
    await host.sees_the_result("this host's policy allows no frames of")
    await expect(host.view.get_by_role("alert")).to_contain_text("this host's policy allows no WebAssembly")
    assert await host.view.locator("#mcpframe-first").count() == 0
    color = "element => getComputedStyle(element).color"
    assert await host.view.locator("#mcpframe-stand-in").evaluate(color) == "rgb(1, 2, 3)"


async def test_the_text_form_opens_the_page_where_the_host_opens_links(
    host: SandboxHost, viewed: Bundle, troubles: Troubles
) -> None:
    troubles.expect("WebAssembly")
    await host.open(view_html(viewed.url), answers={"onopenlink": {}})
    await host.view.get_by_role("button").click()
    assert await host.taken("onopenlink") == {"url": viewed.url}


@pytest.mark.parametrize("path", ["missing/", ""])
async def test_a_bundle_that_does_not_answer(host: SandboxHost, viewed: Bundle, troubles: Troubles, path: str) -> None:
    for part in ("404", "WebAssembly"):
        troubles.expect(part)
    url = f"{viewed.origin}/{path}"
    await host.open(view_html(url), policy=policy(frame_src=viewed.origin))
    await host.sees_the_result(url)
    assert await host.view.locator("iframe").count() == 0  # with the browser's error page


async def test_a_bundle_that_does_not_allow_the_host_says_so_before_python_runs(
    host: SandboxHost, bundle_of: BundleOf, troubles: Troubles
) -> None:
    """Any host, but none of opaque origin."""
    view = bundle_of("view", allowed_origins={"mcp_apps": ["*"]})
    troubles.expect("WebAssembly")
    async with held(host.page.context, LOADER):
        await host.open(view_html(view.url), policy=policy(frame_src=view.origin), sandbox="allow-scripts")
        await host.sees_the_result(f"{view.url} does not allow this host")
    assert await host.said("ui/initialize", "ui/notifications/initialized") == [1, 1]


@pytest.mark.parametrize("frames", [True, False], ids=["in a frame", "in the document"])
async def test_a_view_is_initialized_once_and_before_python_runs(
    host: SandboxHost, viewed: Bundle, frames: bool
) -> None:
    """Some hosts hide a view until then."""
    given = asked(viewed.url, **({"frame_src": viewed.origin} if frames else {}))
    async with held(host.page.context, LOADER) as release:
        said = await host.open(view_html(viewed.url, first_paint="<p>Soon …</p>"), policy=given)
        about = {"name": "view", "version": "1.4", "title": "A view"} if frames else {"name": "view", "version": "0"}
        assert said["appInfo"] == about
        assert said["appCapabilities"] == {"tools": {"listChanged": True}}
        sending = """async (arguments) => {
            for (let number = 0; number < 1000; number += 1)
                await apps.bridge.sendToolInputPartial({ arguments: { number } });
            await apps.bridge.sendToolInput({ arguments });
        }"""
        pages = [host.view, *([host.view.frame_locator("iframe")] if frames else [])]
        for page in pages:
            await page.locator("html").evaluate(WATCHING)
        await host.page.evaluate(sending, CITY)
        await host.call("sendToolResult", RESULT)
        for page in pages:
            await page.locator("html").evaluate("() => arrived.then(() => null)")
        release()
        heard: list[Any] = []
        with anyio.fail_after(BOOT_PATIENCE):
            while not heard or heard[-1][0] != "ToolResult":
                heard = (await host.tool("told"))["heard"]
    assert [kind for kind, _ in heard] == ["ToolInput", "ToolResult"]  # the page has come late
    assert heard[0][1]["arguments"] == CITY
    assert await host.said("ui/initialize", "ui/notifications/initialized") == [1, 1]


WATCHING = """() => {
    globalThis.arrived = new Promise((done) => {
        addEventListener("message", ({ data }) => { if (data?.method?.endsWith("tool-result")) done(); });
    });
}"""


async def test_a_long_result_is_posted_once_and_held_once(host: SandboxHost, viewed: Bundle) -> None:
    """The view's text, which relays it, keeps neither the result nor what came with it."""
    await host.open(view_html(viewed.url), policy=policy(frame_src=viewed.origin))
    await host.tool("add", a=2, b=3)
    bundle = host.view.frame_locator("iframe")
    for frame in (host.view, bundle):
        await frame.locator("html").evaluate(
            """() => {
                globalThis.results = 0;
                addEventListener("message", ({ data }) => { if (data?.method?.endsWith("tool-result")) results += 1; });
            }"""
        )
    sending = """length => {
        const piece = () => Math.random().toString(36).padEnd(12, "0").slice(2);
        const text = Array.from({ length: length / 10 }, piece).join("");
        const image = { type: "image", mimeType: "image/png", data: text };
        return apps.bridge.sendToolResult({ content: [{ type: "text", text }, image] });
    }"""
    await host.page.evaluate(sending, LONG)
    await expect(bundle.locator("#told")).to_contain_text("'type': 'text'")
    for frame in (host.view, bundle):
        assert await frame.locator("html").evaluate("() => results") == 1
    relay = next(frame for frame in host.page.frames if frame.url == "about:blank")
    assert await long_strings(host.page, relay) == 0
    await relay.evaluate("length => { globalThis.held = JSON.stringify('x'.repeat(length)); }", LONG)
    assert await long_strings(host.page, relay) == 1  # one that is held is found


async def long_strings(page: Page, frame: Frame) -> int:
    """Return how many strings as long as the long result are in the memory of a frame's process."""
    session = await page.context.new_cdp_session(frame.parent_frame or page)
    chunks: list[str] = []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: chunks.append(event["chunk"]))
    await session.send("HeapProfiler.takeHeapSnapshot")  # after a collection of garbage
    await session.detach()
    snapshot = json.loads("".join(chunks))
    fields = snapshot["snapshot"]["meta"]["node_fields"]
    sizes = snapshot["nodes"][fields.index("self_size") :: len(fields)]
    return sum(size >= LONG for size in sizes)


async def test_a_bundle_that_leaves_its_page_cannot_speak_for_it(
    host: SandboxHost, viewed: Bundle, origins: Origins, troubles: Troubles
) -> None:
    for part in ("frame-src", "Failed to load resource", "ERR_BLOCKED_BY_CSP"):
        troubles.expect(part)
    await host.open(view_html(viewed.url), policy=policy(frame_src="*"))
    elsewhere = f"{origins.stranger}/apps_host.html"
    # Later, as the answer of `evaluate` may be lost where the page leaves at once.
    leave = "(_, url) => { setTimeout(() => { location.href = url }); }"
    await host.view.frame_locator("iframe").locator("html").evaluate(leave, elsewhere)
    await host.sees_the_result(viewed.url)
    assert await host.view.locator("iframe").count() == 0


async def test_nobody_else_is_relayed(host: SandboxHost, viewed: Bundle, origins: Origins) -> None:
    await host.open(view_html(viewed.url), policy=policy(frame_src=viewed.origin))
    # The host's page is neither the text's parent nor the bundle; a sibling is a frame beside the text's.
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "forged"}}
    call = {"jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": {}}
    await host.page.evaluate(
        """async ([messages, url]) => {
            const view = frames[0][0];
            const sibling = document.body.appendChild(document.createElement("iframe"));
            sibling.src = url;
            await new Promise((done) => (sibling.onload = done));
            for (const message of messages) {
                view.postMessage(message, "*");
                view[0].postMessage(message, "*");
                sibling.contentWindow.eval?.(`parent[0][0].postMessage(${JSON.stringify(message)}, "*")`);
            }
        }""",
        [[log, call], f"{origins.host}/apps_sandbox.html"],
    )
    assert await host.tool("add", a=2, b=3) == {"result": 5}  # a round trip after them
    assert await host.page.evaluate("apps.count('log')") == 0
    seen = [await host.taken("wire") for _ in range(await host.page.evaluate("() => apps.count('wire')"))]
    assert not [message for message in seen if message.get("id") == 99]


async def test_a_server_that_does_not_start(
    host: SandboxHost, origins: Origins, troubles: Troubles, tmp_path: Path
) -> None:
    troubles.expect("")  # the traceback
    write_project(tmp_path, "import_server = false", "raise RuntimeError('not today')\nserver = None\n", name="failing")
    built = build(tmp_path, tmp_path / "out", allowed_origins={"mcp_apps": [sandbox(origins), "null"]}, snapshot=False)
    with serve_folder(tmp_path / "out") as served:
        origin = f"http://bundle.localhost:{served.port}"
        await host.open(view_html(f"{origin}/{built.url_path}"), policy=policy(frame_src=origin))
        bundle = host.view.frame_locator("iframe")
        await expect(bundle.locator("#mcpframe-error-detail")).to_contain_text("not today")
        await host.call("sendToolResult", RESULT)
        await expect(bundle.locator("#mcpframe-stand-in pre")).to_contain_text("21 °C")
        await host.height_of(300)
        assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


def asked(url: str, **more: str) -> str:
    """Return the policy that the `_meta` of a view asks of its host, without frames."""
    csp = view_meta(url)["ui"]["csp"]
    resources = " ".join(csp["resourceDomains"])
    directives = {
        "script_src": f"'self' 'unsafe-inline' {resources} 'wasm-unsafe-eval'",
        "style_src": f"'self' 'unsafe-inline' {resources}",
        "connect_src": " ".join(csp["connectDomains"]),
    }
    return policy(**{**directives, **more})


@pytest.mark.parametrize(
    ("frames", "options"),
    [
        ("'none'", {}),
        extended("'none'", OPAQUE),
        extended("'self' blob: data:", {}),
        ("'self' blob: data:", OPAQUE),
        ("https://other.example", {}),
        extended("https://other.example", OPAQUE),
    ],
)
async def test_where_frames_are_refused_the_bundle_runs_in_the_view_s_document(
    host: SandboxHost, viewed: Bundle, troubles: Troubles, frames: str, options: Any
) -> None:
    if frames.startswith("https"):
        troubles.expect("frame-src")  # only there a frame is tried
    said = await host.open(
        view_html(viewed.url), policy=asked(viewed.url, frame_src=frames), context=CONTEXT, **options
    )
    assert said["appInfo"]["name"] == "view"
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    await host.call("sendToolResult", RESULT)
    await expect(host.view.locator("#told")).to_contain_text("21 °C")
    assert await host.view.locator("html").evaluate("element => element.style.colorScheme") == "dark"
    for gone in ("#mcpframe-stand-in", "#mcpframe-first", "iframe"):
        await expect(host.view.locator(gone)).to_have_count(0)
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


@pytest.mark.parametrize("frames", [True, False], ids=["in a frame", "in the document"])
async def test_something_is_painted_before_the_bundle_is_there(host: SandboxHost, viewed: Bundle, frames: bool) -> None:
    given = asked(viewed.url, **({"frame_src": viewed.origin} if frames else {}))
    first = host.view.locator("#mcpframe-first")
    async with held(host.page.context, viewed.url) as release, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(host.open, view_html(viewed.url, first_paint="<p>Soon …</p>"), policy=given))
        await expect(first).to_be_visible()
        await expect(first).to_have_text("Soon …")
        release()
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    await expect(first).to_have_count(0)


async def test_a_host_that_allows_no_scripts_of_the_bundle(
    host: SandboxHost, viewed: Bundle, troubles: Troubles
) -> None:
    for part in ("script-src", "frame-src", "Failed to", "connect-src", "Refused to connect", "violates"):
        troubles.expect(part)
    given = policy(script_src="'self' 'unsafe-inline' 'wasm-unsafe-eval'")
    await host.open(view_html(viewed.url), policy=given, context=CONTEXT)
    await host.sees_the_result("this host's policy allows no scripts or requests of")


async def test_a_host_s_own_script_runs_before_the_text_s_policy(
    host: SandboxHost, viewed: Bundle, troubles: Troubles
) -> None:
    """The host's policy allows inline scripts; the text's, which markup of a result meets, only its own."""
    for part in ("script-src", "violates"):
        troubles.expect(part)
    html = view_html(viewed.url).replace("<head>", "<head><script>globalThis.early = 1</script>")
    html = html.replace("</head>", "<script>globalThis.late = 1</script></head>")
    await host.open(html, policy=policy(frame_src=viewed.origin))
    ran = await host.view.locator("html").evaluate("() => [typeof early, typeof late]")
    assert ran == ["number", "undefined"]


def test_the_texts_of_a_build_are_those_of_its_address(viewed: Bundle) -> None:
    folder = viewed.folder / viewed.path
    app = json.loads((folder / "manifest.json").read_text())["app"]
    for form, name in app["files"].items():
        assert (folder / name).read_text() == view_html(viewed.url, form=form)
    assert app["_meta"] == view_meta(viewed.url)
