"""The fractal's page, as a person uses it: tiles come one after the other, and the button stops them."""

from __future__ import annotations

import base64
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import TemplateSite
from tests.browser.framed import PATIENCE, Framed


@pytest.fixture
def page(host_page: Page, templates: TemplateSite) -> Framed:
    """A framed page of it."""
    return Framed(host_page, templates.url("fractal"))


async def test_a_picture_comes_tile_by_tile_and_is_shown(page: Framed) -> None:
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            result = await client.call_tool("draw", {"detail": 30}, progress_callback=on_progress)
            content: Any = result.content[0]
            picture = (await page.frame()).locator("#picture")
            await expect(picture).to_have_attribute("src", f"data:image/png;base64,{content.data}")
            assert await picture.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [240, 240]
            await expect((await page.frame()).locator("#status")).to_have_text("16 of 16 tiles")
    assert seen == list(range(1, 17))
    assert base64.b64decode(content.data).startswith(b"\x89PNG")


async def test_a_person_stops_a_drawing_without_end(page: Framed) -> None:
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            outcomes: list[Any] = []

            async def draw() -> None:
                outcomes.append(await client.call_tool("draw", {"detail": 1_000_000, "width": 0.001, "x": 0}))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(draw)
                stop = (await page.frame()).get_by_role("button", name="Stop")
                await expect(stop).to_be_enabled()
                await stop.click()
            assert outcomes[0].is_error
            assert "It was stopped after" in outcomes[0].content[0].text
            await expect((await page.frame()).locator("#status")).to_contain_text("stopped")
            await expect(stop).to_be_disabled()
            again = await client.call_tool("draw", {"detail": 10})
            assert not again.is_error
