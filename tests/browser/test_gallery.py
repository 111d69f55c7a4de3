"""A gallery: each of its servers is started on its page, and in its inspector, wherever the folder is published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from playwright.async_api import BrowserContext, Page, expect

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.publish.gallery.build import Gallery, build_gallery
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.bundle.conftest import write_project

EDITS = {"notes": "https://playground.example/#template=notes"}
HOSTILE = "<img src=x onerror=alert(1)>"
ADDER = f'''
from mcpframe import FrameServer

server = FrameServer("adder", title="Adder {HOSTILE}", version="2.1")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers. {HOSTILE}"""
    return a + b
'''
NOTES = '''
from mcpframe import FrameServer

server = FrameServer("notes", allowed_origins=["https://chat.example"])


@server.tool()
def note(text: str) -> str:
    """Keep a note."""
    return text
'''


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    servers = tmp_path_factory.mktemp("my-servers")
    write_project(servers / "adder", "", ADDER, name="adder")
    write_project(servers / "notes", "", NOTES, name="notes")
    write_project(servers / "broken", 'allowed_origins = ["https://chat.example"]', "server = 1 / 0", name="broken")
    (servers / "adder" / "gallery.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>')
    return build_gallery(
        servers, tmp_path_factory.mktemp("public") / "below" / "tools", edits=EDITS, snapshot=False, pictures=False
    )


@pytest.fixture(scope="module")
def address(gallery: Gallery) -> Iterator[str]:
    with serve_folder(gallery.folder.parent.parent) as site:
        yield f"http://gallery.localhost:{site.port}/below/tools/"


def test_what_cannot_be_built_is_left_out_and_named(gallery: Gallery) -> None:
    assert [entry.name for entry in gallery.entries] == ["adder", "notes"]
    [(root, error)] = gallery.failures.items()
    assert root.name == "broken"
    assert "ZeroDivisionError" in str(error)


def test_the_index_keeps_earlier_versions(gallery: Gallery) -> None:
    index = json.loads((gallery.folder / "index.json").read_text())
    adder, notes = index["servers"]
    assert adder["title"] == f"Adder {HOSTILE}"
    assert (adder["url"], adder["version"], adder["hosts"]) == ("adder/", "2.1", [])
    assert (notes["hosts"], notes["tools"]) == (
        ["https://chat.example"],
        [{"name": "note", "description": "Keep a note."}],
    )
    adder["versions"][0]["inputs"] = "0" * 8
    (gallery.folder / "index.json").write_text(json.dumps(index))
    again = build_gallery(
        next(iter(gallery.failures)).parent, gallery.folder, edits=EDITS, snapshot=False, pictures=False
    )
    assert [each.inputs for each in again.entries[0].versions][1:] == ["0" * 8]
    assert len(again.entries[1].versions) == 1
    assert all(result.unchanged for result in again.results)


async def test_a_server_is_started_and_called_on_the_page(
    context: BrowserContext, troubles: Troubles, address: str
) -> None:
    page = await context.new_page()
    await page.goto(address)
    await page.get_by_role("button", name="Start Adder").click()
    element = page.locator("mcp-server").first
    await (
        element.get_by_label("a", exact=True)
        .or_(element.get_by_label("A", exact=True))
        .fill("20", timeout=BOOT_PATIENCE * 1000)
    )
    await element.get_by_label("B", exact=True).fill("22")
    await element.get_by_role("button", name="Call").click()
    await expect(element).to_contain_text("42")
    await expect(page.locator("img[src=x]")).to_have_count(0)


@pytest.mark.extended
async def test_a_server_is_opened_in_the_inspector(context: BrowserContext, troubles: Troubles, address: str) -> None:
    page = await context.new_page()
    await page.goto(address)
    await page.locator("#notes").get_by_role("link", name="In the inspector").click()
    await page.wait_for_url("**/inspector/**")
    await expect(page.get_by_text("Keep a note.").first).to_be_visible(timeout=BOOT_PATIENCE * 1000)


async def test_a_servers_own_page_leads_to_the_inspector(
    context: BrowserContext, troubles: Troubles, address: str
) -> None:
    page = await context.new_page()
    await page.goto(f"{address}adder/")
    await page.get_by_role("link", name="Try it in the inspector").click(timeout=BOOT_PATIENCE * 1000)
    await expect(page.get_by_text("Add two numbers.").first).to_be_visible(timeout=BOOT_PATIENCE * 1000)


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_the_page_is_for_everybody(
    context: BrowserContext, troubles: Troubles, address: str, scheme: str
) -> None:
    page: Page = await context.new_page()
    await page.emulate_media(color_scheme=scheme)
    await page.goto(address)
    for summary in await page.locator("summary").all():
        await summary.click()
    await expect(page.get_by_text("mcpframe.hosts").first).to_be_visible()
    assert f'FrameTransport("{address}notes/")' in await page.locator("#notes").inner_text()
    assert await page.locator("#notes").get_by_role("link", name="Edit it").get_attribute("href") == EDITS["notes"]
    await expect(page.get_by_role("link", name="Edit it")).to_have_count(1)
    assert await complaints(page) == []


async def test_names_that_a_gallery_cannot_have(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no folder"):
        await anyio.to_thread.run_sync(build_gallery, tmp_path, tmp_path / "out")
    write_project(tmp_path / "one", 'allowed_origins = ["https://a.example"]', ADDER, name="inspector")
    with pytest.raises(BuildError, match="choose another name"):
        await anyio.to_thread.run_sync(build_gallery, tmp_path, tmp_path / "out")
