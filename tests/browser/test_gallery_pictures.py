"""The pictures of a gallery, of a server that draws and of one that does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.publish.gallery.build import build_gallery
from mcpframe.kit.publish.gallery.pictures import HEIGHT, MOST_BYTES, SCALE, WIDTH
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles
from tests.bundle.conftest import write_project

ADDER = '''
from mcpframe import FrameServer

server = FrameServer("adder", title='Adder "<b>"')


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def other() -> None:
    """Do nothing."""
'''
DRAWING = """
from mcpframe import FrameServer, FrameSession

server = FrameServer("drawing")


@server.ui
async def draw(session: FrameSession) -> None:
    await session.page.show("red.html")
"""
RED = '<div class="red">Red</div>'
STYLE = ".red { height: 100vh; background: red; }"
CORNER = """async (image) => {
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d");
    context.drawImage(image, -image.naturalWidth / 2, -image.naturalHeight / 2);
    return [...context.getImageData(0, 0, 1, 1).data];
}"""


@pytest.mark.extended
async def test_they_show_a_page_or_a_form(
    context: BrowserContext, troubles: Troubles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers, out = tmp_path / "servers", tmp_path / "out"
    write_project(servers / "adder", "", ADDER, name="adder")
    write_project(servers / "drawing", 'assets = ["red.html"]\nstyles = ["red.css"]', DRAWING, name="drawing")
    (servers / "drawing" / "red.html").write_text(RED)
    (servers / "drawing" / "red.css").write_text(STYLE)
    first = build_gallery(servers, out, snapshot=False)
    assert {entry.name: entry.picture for entry in first.entries} == {
        "adder": "_gallery/adder.webp",
        "drawing": "_gallery/drawing.webp",
    }
    taken = {path.name: path.read_bytes() for path in (out / "_gallery").glob("*.webp")}
    assert all(len(data) <= MOST_BYTES for data in taken.values())

    with serve_folder(out) as site:
        page = await context.new_page()
        await page.goto(f"{site.origin}/")
        picture = page.locator("#adder img")
        await expect(picture).to_have_attribute("alt", 'Picture of Adder "<b>"')
        await expect(picture).to_have_attribute("loading", "lazy")
        await expect(picture).to_have_attribute("width", str(WIDTH))
        await picture.scroll_into_view_if_needed()
        await expect(picture).to_have_js_property("naturalHeight", HEIGHT * SCALE)
        red, green, *_ = await page.locator("#drawing img").evaluate(CORNER)
        assert red > 200 > 50 > green
        red, green, *_ = await picture.evaluate(CORNER)
        assert green > 50

    # Without a browser, the second build has them from the cache.
    monkeypatch.setenv("MCPFRAME_CHROMIUM", re.sub(r"\W", "-", str(tmp_path)))
    build_gallery(servers, out, snapshot=False)
    assert {path.name: path.read_bytes() for path in (out / "_gallery").glob("*.webp")} == taken
    assert {entry.picture for entry in build_gallery(servers, out, snapshot=False, pictures=False).entries} == {None}
