"""A bundle in what npm's `@mcp-ui/client` is today: version 7 renders no UI resources, but views of MCP Apps.

With `test_embedded_ui.py`, which has its last version with the renderer of UI resources, it is one bundle for both.
"""

from __future__ import annotations

import json
from pathlib import Path

from playwright.async_api import BrowserContext, expect

from mcpframe.kit.web.serve import serve_folder
from mcpframe.views import View
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, Troubles
from tests.browser.embedded import asked
from tests.browser.ui_hosts import open_app_renderer
from tests.support.built import SERVERS, build_plain

SUNNY = {"content": [{"type": "text", "text": "sunny"}]}


async def test_the_current_client_shows_it_as_a_view(
    context: BrowserContext, troubles: Troubles, origins: Origins, site: Path, tmp_path: Path
) -> None:
    troubles.expect("Not connected")  # the component's own: it tells the view its context before it has connected
    with serve_folder(tmp_path) as served:
        lists = {"mcp_ui": [origins.host], "mcp_apps": [f"http://sandbox.localhost:{origins.port}", "null"]}
        built = build_plain(SERVERS / "embedded", tmp_path, allowed_origins=lists)
        view = View(f"http://bundle.localhost:{served.port}/{built.url_path}", uri="ui://test/ours")
        props = {
            "toolInput": {"day": "today"},
            "toolResult": {"content": [], "structuredContent": {"tasks": ["Buy milk"]}},
            "hostContext": {"theme": "dark"},
        }
        page = await open_app_renderer(context, origins, site, view.html, props, answer=SUNNY)
        frame = page.frame_locator("iframe").frame_locator("iframe").frame_locator("iframe")
        await frame.locator("#ready").wait_for(timeout=BOOT_PATIENCE * 1000)
        await expect(frame.locator("#drawn")).to_have_text('{"tasks": ["Buy milk"]}')
        await expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
        answer = await asked(frame, "call_tool", name="get-weather", arguments={"city": "Tokyo"})
        assert answer["result"]["content"] == SUNNY["content"]
        assert (await asked(frame, "send_message", content="Hi"))["result"] is None
        assert (await asked(frame, "open_link", url="https://example.org/"))["result"] is None
        assert (await asked(frame, "intent", intent="go"))["error"] == "HostLacks"
        notes = dict(await page.evaluate("ui.notes"))
        assert (notes["tool"]["name"], notes["tool"]["arguments"]) == ("get-weather", {"city": "Tokyo"})
        assert notes["message"] == {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
        assert notes["link"] == {"url": "https://example.org/"}
        assert "error" not in notes, json.dumps(notes["error"])
        assert notes["size"]["height"] > 0
