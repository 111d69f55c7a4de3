"""The seed's own page in `AppHost`: the `McpApp` of "MCP Apps PostMessage Lifecycle", with JSON strings as frames."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from mcpframe.frame.core.errors import StateError
from tests.browser.app_hosting import Shown, showing
from tests.browser.conftest import PAGES, Origins
from tests.browser.outers import PATIENCE

VIEW = (PAGES / "seed_view.html").read_text("utf-8")
TEXT = {"type": "text", "text": "Weather updated!"}


async def shows(shown: Shown, selector: str, text: str) -> None:
    await expect(shown.page.frame_locator("iframe").frame_locator("iframe").locator(selector)).to_have_text(text)


async def test_the_walkthrough(page: Page, origins: Origins) -> None:
    async with showing(page, origins.sandbox, VIEW, context={"theme": "dark"}, teardown=PATIENCE) as shown:
        await shows(shown, "#status", "Connected")
        assert await shown.inside("() => document.body.className") == "dark"
        shown.running.input_partial({"place": "Wi"})
        await shows(shown, "#preview", 'Preparing: {"place":"Wi"}')
        await shown.running.call({"place": "Wien"})
        await shows(shown, "#preview", "Analyzing: Wien")
        await shows(shown, "#result", '{ "place": "Wien", "degrees": 21 }')
        await shown.frames[1].click("#refresh")
        await shows(shown, "#result", '{ "result": [ 0, 1, 2 ] }')
        shown.running.change_context({"theme": "light"})
        await shown.frames[1].wait_for_function("() => document.body.className === 'light'")
        asked = shown.asked
    assert await asked.taken("link") == "https://example.org/goodbye?The%20host%20removes%20the%20view."
    await expect(page.locator("iframe")).to_have_count(0)


async def test_interactive_requests(page: Page, origins: Origins) -> None:
    async with showing(page, origins.sandbox, VIEW) as shown:
        assert await shown.inside("block => app.sendMessage('user', block)", TEXT) == {}
        assert await shown.asked.taken("message") == [TEXT]
        refused = await shown.inside("block => app.sendMessage('assistant', block).catch(String)", TEXT)
        assert "role must be 'user'" in refused
        assert await shown.inside("block => app.updateModelContext([block], { temperature: 72 })", TEXT) == {}
        assert await shown.asked.taken("model_context") == [[TEXT], {"temperature": 72}]
        assert await shown.inside("() => app.openLink('https://weather.example/nyc')") == {}
        assert await shown.asked.taken("link") == "https://weather.example/nyc"
        assert await shown.inside("() => app.requestDisplayMode('fullscreen')") == {"mode": "inline"}
        assert await shown.inside("() => app.ping()") == {}
        read = await shown.inside("() => app.readResource('data://stations')")
        assert read["contents"][0]["text"] == "Wien"
        await shown.inside("() => app.sendSizeChanged(300, 234)")
        await page.wait_for_function("() => document.querySelector('iframe').clientHeight === 234")
        shown.running.cancelled("enough")
        await shows(shown, "#status", "Cancelled: enough")
        with pytest.raises(StateError):
            shown.running.input({})
