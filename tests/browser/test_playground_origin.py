"""A playground with a run origin: each project's server has an origin of its own, with storage."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, expect

from docs.generate.playground import write_pages
from docs.generate.run_origin import parse_run_origin, write_run_page
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles, profile_with_third_party_storage
from tests.browser.test_playground import run, write

KEEPING = """
from mcpframe import FrameServer

server = FrameServer("keeping")


@server.tool()
async def keep(text: str) -> str:
    await server.session.storage.set("text", text)
    return "kept"


@server.tool()
async def recall() -> str:
    return str(await server.session.storage.get("text"))
"""
FETCHES = "url => fetch(url).then(() => 'fetched', ({ name }) => name)"


@pytest.fixture(scope="module")
def playground(public_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the playground; its runs are below `run.localhost`."""
    folder = tmp_path_factory.mktemp("run-origin")
    shutil.copytree(public_site / "playground", folder / "site")
    (folder / "runs").mkdir()
    with serve_folder(folder / "site") as site, serve_folder(folder / "runs") as runs:
        address = f"http://play.localhost:{site.port}"
        origin = parse_run_origin(f"http://*.run.localhost:{runs.port}", address)
        write_pages(folder / "site", run_origin=origin)
        write_run_page(origin, (folder / "site" / "framed.html").read_bytes(), folder / "runs")
        yield f"{address}/"


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[BrowserContext]:
    """A profile in which a page keeps values that another site frames."""
    async with profile_with_third_party_storage(tmp_path / "profile") as context:
        yield context


async def call(page: Page, name: str, expected: str, **values: str) -> None:
    form = page.locator("form.tool", has_text=name)
    for label, value in values.items():
        await form.get_by_label(label).fill(value)
    await form.get_by_role("button", name="Call").click()
    await expect(form.locator("output")).to_have_text(expected)


async def test_a_project_has_an_origin_of_its_own(page: Page, troubles: Troubles, playground: str) -> None:
    for part in ("Content Security Policy", "violates", "frame-ancestors", "Failed to load", "postMessage"):
        troubles.expect(part)
    await page.goto(playground)
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await write(page, KEEPING)
    await run(page)
    iframe = page.locator("#place iframe")
    first = await iframe.get_attribute("src") or ""
    assert re.fullmatch(r"http://[0-9a-f]{32}\.run\.localhost:\d+/", first)
    await expect(iframe).to_have_attribute("sandbox", "allow-scripts allow-forms allow-same-origin")
    await call(page, "keep", "kept", text="a value")
    [frame] = [each for each in page.frames if each.url == first]
    assert await frame.evaluate("[self.origin + '/', document.cookie]") == [first, ""]
    assert await frame.evaluate(FETCHES, playground) == "TypeError"
    assert await frame.evaluate(FETCHES, first) == "TypeError"

    await run(page)  # keeps what was stored, as it is the same project
    assert await iframe.get_attribute("src") == first
    await call(page, "recall", "a value")

    stranger = await page.context.new_page()
    await stranger.goto(f"{playground.replace('play.', 'stranger.')}framed.html")
    await stranger.set_content(f'<iframe src="{first}"></iframe>')
    await expect(stranger.frame_locator("iframe").locator("#mcpframe-page")).to_have_count(0)
