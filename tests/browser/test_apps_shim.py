"""The text of a view inside the official AppBridge: a sandbox proxy writes it into a frame.

The framing form is the shim, which frames the bundle; the inline form is the bundle's page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, FrameLocator, expect

from mcpframe.kit.bundle import build
from mcpframe.kit.web.serve import serve_folder
from mcpframe.views.bundle_page import framing_html
from tests.browser.apps_hosts import CONTEXT, AppsHost
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import SERVERS, Bundle, Origins, Troubles

RESULT = {"content": [{"type": "text", "text": "21 °C\n" * 20}]}


@pytest.fixture(scope="session")
def shimmed(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The bundle of `servers/view`, for views in sandboxes only."""
    folder = tmp_path_factory.mktemp("shimmed")
    lists = {"sep": [origins.stranger], "mcp_apps": [sandbox(origins), "null"]}
    with serve_folder(folder) as served:
        origin = f"http://bundle.localhost:{served.port}"
        built = build(SERVERS / "view", folder, allowed_origins=lists, url=f"{origin}/view/")
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


async def test_a_bundle_behind_the_shim_is_a_view_as_it_is(host: SandboxHost, shimmed: Bundle) -> None:
    said = await host.open(framing_html(shimmed.url), policy=policy(frame_src=shimmed.origin), context=CONTEXT)
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


async def test_in_a_sandbox_without_an_origin_everything_has_an_opaque_one(host: SandboxHost, shimmed: Bundle) -> None:
    html = framing_html(shimmed.url)
    said = await host.open(html, policy=policy(frame_src=shimmed.origin), sandbox="allow-scripts")
    assert said["appInfo"]["name"] == "view"
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    assert await origin_of(host.view) == await origin_of(host.view.frame_locator("iframe")) == "null"


async def test_a_host_that_allows_no_frames(host: SandboxHost, shimmed: Bundle, troubles: Troubles) -> None:
    troubles.expect("frame-src")
    said = await host.open(framing_html(shimmed.url), context=CONTEXT)
    assert said["appInfo"]["name"] == "mcpframe"
    await host.sees_the_result(shimmed.origin)
    color = "element => getComputedStyle(element).color"
    assert await host.view.locator("#mcpframe-stand-in").evaluate(color) == "rgb(1, 2, 3)"


@pytest.mark.parametrize("path", ["missing/", ""])
async def test_a_bundle_that_does_not_answer(host: SandboxHost, shimmed: Bundle, troubles: Troubles, path: str) -> None:
    troubles.expect("404")
    url = f"{shimmed.origin}/{path}"
    await host.open(framing_html(url), policy=policy(frame_src=shimmed.origin))
    await host.sees_the_result(url)


async def test_a_bundle_that_leaves_its_page_cannot_speak_for_it(
    host: SandboxHost, shimmed: Bundle, origins: Origins, troubles: Troubles
) -> None:
    for part in ("frame-src", "Failed to load resource", "ERR_BLOCKED_BY_CSP"):
        troubles.expect(part)
    await host.open(framing_html(shimmed.url), policy=policy(frame_src="*"))
    elsewhere = f"{origins.stranger}/apps_host.html"
    # Later, as the answer of `evaluate` may be lost where the page leaves at once.
    leave = "(_, url) => { setTimeout(() => { location.href = url }); }"
    await host.view.frame_locator("iframe").locator("html").evaluate(leave, elsewhere)
    await host.sees_the_result(shimmed.url)
    assert await host.view.locator("iframe").count() == 0


async def test_nobody_else_is_relayed(host: SandboxHost, shimmed: Bundle, origins: Origins) -> None:
    await host.open(framing_html(shimmed.url), policy=policy(frame_src=shimmed.origin))
    # The host's page is neither the shim's parent nor the bundle; a sibling is a frame beside the shim's.
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "forged"}}
    call = {"jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": {}}
    await host.page.evaluate(
        """async ([messages, url]) => {
            const shim = frames[0][0];
            const sibling = document.body.appendChild(document.createElement("iframe"));
            sibling.src = url;
            await new Promise((done) => (sibling.onload = done));
            for (const message of messages) {
                shim.postMessage(message, "*");
                shim[0].postMessage(message, "*");
                sibling.contentWindow.eval?.(`parent[0][0].postMessage(${JSON.stringify(message)}, "*")`);
            }
        }""",
        [[log, call], f"{origins.host}/apps_sandbox.html"],
    )
    assert await host.tool("add", a=2, b=3) == {"result": 5}  # a round trip after them
    assert await host.page.evaluate("apps.count('log')") == 0
    wire = await host.page.evaluate("() => apps.count('wire')")
    seen = [await host.taken("wire") for _ in range(wire)]
    assert not [message for message in seen if message.get("id") == 99]


async def test_a_server_that_does_not_start(
    host: SandboxHost, origins: Origins, troubles: Troubles, tmp_path: Path
) -> None:
    troubles.expect("")  # the traceback
    (tmp_path / "server.py").write_text("raise RuntimeError('not today')\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "failing"\n[tool.mcpframe]\ninspect = false\n')
    built = build(tmp_path, tmp_path / "out", allowed_origins={"mcp_apps": [sandbox(origins), "null"]}, snapshot=False)
    with serve_folder(tmp_path / "out") as served:
        origin = f"http://bundle.localhost:{served.port}"
        await host.open(framing_html(f"{origin}/{built.url_path}"), policy=policy(frame_src=origin))
        bundle = host.view.frame_locator("iframe")
        await expect(bundle.locator("#mcpframe-error-detail")).to_contain_text("not today")
        await host.call("sendToolResult", RESULT)
        await expect(bundle.locator("#mcpframe-stand-in pre")).to_contain_text("21 °C")
        await host.height_of(300)
        assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


def inline(bundle: Bundle) -> tuple[str, str]:
    """Return the inline form of a bundle, and the policy that its `_meta` asks of the host."""
    folder = bundle.folder / bundle.path
    app = json.loads((folder / "manifest.json").read_text())["app"]
    assert (folder / app["framing"]["file"]).read_text() == framing_html(bundle.url)
    csp = app["inline"]["_meta"]["ui"]["csp"]
    resources = " ".join(csp["resourceDomains"])
    wasm = " 'wasm-unsafe-eval'" if csp["wasmUnsafeEval"] else ""
    asked = policy(
        script_src=f"'self' 'unsafe-inline' {resources}{wasm}",
        style_src=f"'self' 'unsafe-inline' {resources}",
        connect_src=" ".join(csp["connectDomains"]),
    )
    return (folder / app["inline"]["file"]).read_text(), asked


@pytest.mark.parametrize("options", [{}, {"sandbox": "allow-scripts"}], ids=["an origin", "opaque"])
async def test_the_inline_form_is_the_bundle_s_page(host: SandboxHost, shimmed: Bundle, options: Any) -> None:
    html, asked = inline(shimmed)
    said = await host.open(html, policy=asked, context=CONTEXT, **options)
    assert said["appInfo"]["name"] == "view"
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    await host.call("sendToolResult", RESULT)
    await expect(host.view.locator("#told")).to_contain_text("21 °C")
    assert await host.view.locator("#mcpframe-stand-in").count() == 0


@pytest.mark.parametrize("blocked", ["'wasm-unsafe-eval'", "scripts of the bundle"])
async def test_the_inline_form_where_it_cannot_run(
    host: SandboxHost, shimmed: Bundle, troubles: Troubles, blocked: str
) -> None:
    for part in ("Content Security Policy", "WebAssembly", "CompileError", "Failed to", "preloaded"):
        troubles.expect(part)
    html, asked = inline(shimmed)
    wasm = blocked.startswith("'")
    given = asked.replace(" 'wasm-unsafe-eval'", "") if wasm else policy()
    await host.open(html, policy=given, context=CONTEXT)
    seen = host.view.locator("#mcpframe-error-title" if wasm else "#mcpframe-stalled")
    await expect(seen).to_be_visible(timeout=BOOT_PATIENCE * 1000)
    await expect(seen).to_contain_text("does not allow WebAssembly" if wasm else "blocked")
    assert await host.view.locator("html").evaluate("element => element.style.colorScheme") == "dark"
    await host.call("sendToolResult", RESULT)
    await expect(host.view.locator("#mcpframe-stand-in pre")).to_contain_text("21 °C")
    await host.height_of(300)
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}
