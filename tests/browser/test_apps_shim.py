"""The shim inside the official AppBridge: a sandbox proxy writes it into a frame, and it frames the bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import FrameLocator, expect

from mcpframe.frame.app_page import framing_html
from mcpframe.kit.bundle import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import SERVERS, Bundle, Origins, Troubles
from tests.browser.test_apps_view import CONTEXT, AppsHost, app_bridge, host

__all__ = ["app_bridge", "host"]


@pytest.fixture(scope="session")
def sandbox(origins: Origins) -> str:
    """The origin of the host's sandboxes."""
    return f"http://sandbox.localhost:{origins.port}"


@pytest.fixture(scope="session")
def view(origins: Origins, sandbox: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The bundle of `servers/view`, which the sandboxes' origin may embed."""
    folder = tmp_path_factory.mktemp("shimmed")
    built = build(SERVERS / "view", folder, allowed_origins=[origins.host, sandbox])
    with serve_folder(folder) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", built.url_path)


def with_policy(html: str, policy: str) -> str:
    """Return a view with the host's policy in it."""
    return html.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">')


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


async def open_view(host: AppsHost, sandbox: str, html: str, **options: Any) -> FrameLocator:
    """Show a view in a sandbox proxy, and return the view's frame."""
    host.url = f"{sandbox}/apps_sandbox.html"
    host.said = await host.open(html=html, **options)
    return host.page.frame_locator("iframe").frame_locator("iframe")


async def test_a_bundle_behind_the_shim_is_a_view_as_it_is(host: AppsHost, view: Bundle, sandbox: str) -> None:
    html = with_policy(framing_html(view.url), policy(frame_src=view.origin))
    shim = await open_view(host, sandbox, html, context=CONTEXT)
    assert host.said["appInfo"] == {"name": "view", "version": "1.4", "title": "A view"}
    assert await host.tool("add", a=2, b=3) == {"result": 5}
    await host.call("sendToolInput", {"arguments": {"place": "Wien"}})
    await host.call("sendToolResult", {"content": [{"type": "text", "text": "21 °C"}]})
    bundle = shim.frame_locator("iframe")
    await expect(bundle.locator("#told")).to_contain_text("21 °C")
    for frame in (shim, bundle):
        assert await frame.locator("html").evaluate("element => element.style.colorScheme") == "dark"
    await host.tool("grow", pixels=2000)
    while (await host.taken("size"))["height"] < 2000:
        pass
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}


async def test_a_host_that_allows_no_frames(host: AppsHost, view: Bundle, sandbox: str, troubles: Troubles) -> None:
    troubles.expect("frame-src")
    shim = await open_view(host, sandbox, with_policy(framing_html(view.url), policy()), context=CONTEXT)
    assert host.said["appInfo"]["name"] == "mcpframe"
    await expect(shim.get_by_role("alert")).to_contain_text(view.origin)
    assert (await host.taken("size"))["height"] > 10
    await host.call("sendToolResult", {"content": [{"type": "text", "text": "21 °C\n" * 20}]})
    await expect(shim.locator("#mcpframe-stand-in pre")).to_contain_text("21 °C")
    while (await host.taken("size"))["height"] < 200:
        pass
    color = "element => getComputedStyle(element).color"
    assert await shim.locator("#mcpframe-stand-in").evaluate(color) == "rgb(1, 2, 3)"
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}
