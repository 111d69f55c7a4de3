"""The hosts' pages with npm's `@mcp-ui/client`: `pages/ui_host.html` with the renderer of 6.1.0, its last one of UI
resources, and `pages/app_renderer.html` with that of 7.1.1, for views of MCP Apps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import BrowserContext, Page

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.npm_scripts import beside

if TYPE_CHECKING:
    from tests.browser.conftest import Origins


def bundle_ui_client(folder: Path, script: str = "ui_host_page.js", peer: str = "mcp-ui-6.1") -> None:
    """Bundle the script of a host's page into a folder.

    Args:
        folder: where to put it.
        script: its name in `pages`.
        peer: the folder in tests/npm with its packages.
    """
    source = beside(peer, Path(__file__).parent / "pages" / script)
    bundle_module(str(source), folder / script, install_locked(checkout_dir()))


async def open_app_renderer(
    context: BrowserContext,
    origins: Origins,
    site: Path,
    html: str,
    props: Mapping[str, Any],
    *,
    answer: Mapping[str, Any],
) -> Page:
    """Open the page with `AppRenderer`, and let it render a view behind the sandbox proxy.

    Args:
        html: the text of the view.
        props: of the component.
        answer: to each call of a tool by the view.
    """
    bundle_ui_client(site, "app_renderer_page.js", "mcp-ui-7")
    page = await context.new_page()
    await page.goto(f"{origins.host}/app_renderer.html")
    await page.wait_for_function("document.documentElement.dataset.state === 'loaded'")
    proxy = f"http://sandbox.localhost:{origins.port}/apps_sandbox.html"
    await page.evaluate(
        "([html, proxy, props, answer]) => ui.open(html, proxy, props, answer)", [html, proxy, props, answer]
    )
    return page
