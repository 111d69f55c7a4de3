"""Imports into the playground: a folder, a zip, files beside a server, and a public address."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from docs.generate.playground import build_playground
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Troubles
from tests.browser.test_accessibility import complaints

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SERVER = """
from mcpframe import FrameServer

server = FrameServer("pictures")

@server.ui
async def ui(session):
    await session.page.show("page.html")

@server.tool()
async def nothing() -> str:
    return "nothing"
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"
STARTING = 60_000


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A public host of files with CORS: its folder and its origin."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with serve_folder(folder, headers={"Access-Control-Allow-Origin": "*"}) as served:
        yield folder, f"http://127.0.0.1:{served.port}"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, elsewhere: tuple[Path, str]) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    build_playground(checkout_dir(), folder / "playground", snapshot=False, sources=[elsewhere[1]])
    with serve_folder(folder) as site:
        yield f"http://localhost:{site.port}/playground/"


async def test_a_folder_a_zip_and_files_beside_a_server(
    page: Page, troubles: Troubles, address: str, elsewhere: tuple[Path, str], tmp_path: Path
) -> None:
    troubles.expect("Content Security Policy")
    origin = elsewhere[1]
    pictures = tmp_path / "pictures"
    (pictures / "static").mkdir(parents=True)
    (pictures / ".git").mkdir()
    (pictures / ".git" / "config").write_text("x")
    (pictures / "server.py").write_text(SERVER)
    (pictures / "page.html").write_text("<img src='static/a.png' alt='One'>")
    (pictures / "static" / "a.png").write_bytes(PIXEL)
    text, told = page.locator(".cm-content"), page.locator("#notice")
    await page.goto(address)
    await expect(text).to_contain_text("def add(")

    await page.get_by_role("button", name="Import").click()
    assert await complaints(page) == []
    await page.get_by_label("A folder").set_input_files(pictures)
    await expect(text).to_contain_text('FrameServer("pictures")')
    await expect(told).to_contain_text("Read it before you run it")
    await expect(page.locator("#projects option:checked")).to_have_text("pictures")
    await expect(page.locator("#files").get_by_role("tab")).to_have_text(["server.py", "page.html", "static/a.png"])
    await expect(page.locator("iframe:not([hidden])")).to_have_count(0)
    await page.get_by_role("tab", name="static/a.png").click()
    await expect(page.get_by_role("img", name="static/a.png")).to_be_visible()
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator("#status")).to_have_text("Running", timeout=STARTING)
    frame = page.frame_locator("iframe:not([hidden])")
    shown = frame.get_by_role("img", name="One")
    await expect(shown).to_have_js_property("naturalWidth", 1)

    fetches = "(_, url) => fetch(url).then(() => '', (error) => error.name)"
    refused = await frame.locator("body").evaluate(fetches, f"{origin}/a")
    assert refused == "TypeError"  # the server's page has no requests, though the playground's has some

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    saved = tmp_path / "saved.zip"
    await (await download.value).save_as(saved)
    with zipfile.ZipFile(saved) as archive:
        assert archive.read("static/a.png") == PIXEL
    await page.get_by_role("button", name="Import").click()
    await page.get_by_label("Files, or a zip").set_input_files(saved)
    await expect(page.locator("#projects option:checked")).to_have_text("saved")
    await expect(page.get_by_role("tab", name="static/a.png")).to_have_count(1)

    await page.get_by_role("button", name="Import").click()
    await page.get_by_label("Add them to the open project").check()
    added = {"name": "server.py", "mimeType": "text/x-python", "buffer": b"changed = 1"}
    await page.get_by_label("Files, or a zip").set_input_files([added])  # type: ignore[list-item]
    await expect(text).to_have_text("changed = 1")
    await told.get_by_role("button", name="Undo").click()
    await expect(text).to_contain_text('FrameServer("pictures")')

    # A drop takes the same way; the editor, which would insert a file as text, gets nothing of it.
    await page.evaluate(
        """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["dropped = 1"], "dropped.py"));
          const target = document.querySelector(".cm-content");
          target.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }"""
    )
    await expect(text).to_have_text("dropped = 1")
    await expect(page.locator("#projects option:checked")).to_have_text("dropped")
    await page.locator("#projects").select_option("saved")
    await expect(text).to_contain_text('FrameServer("pictures")')


async def test_a_public_address_opens_and_is_named_and_others_are_not_fetched(
    page: Page, troubles: Troubles, address: str, elsewhere: tuple[Path, str]
) -> None:
    troubles.expect("404")
    folder, origin = elsewhere
    (folder / "o" / "r" / COMMIT).mkdir(parents=True)
    (folder / "o" / "r" / COMMIT / "mine.py").write_text("fetched = 1")
    (folder / "o" / "r" / "main").mkdir()
    (folder / "o" / "r" / "main" / "é b.py").write_text("<b>fetched = 2</b>")
    (folder / "o" / "r" / "main" / "<img src=x>.py").write_text("")
    text, told = page.locator(".cm-content"), page.locator("#notice")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))

    await page.goto(f"{address}#from={origin}/o/r/{COMMIT}/mine.py")
    await expect(text).to_have_text("fetched = 1")
    await expect(told).to_contain_text(f"{origin}/o/r/{COMMIT}/mine.py, pinned to a commit. Read it before")
    await expect(page.locator("#files").get_by_role("tab")).to_have_text(["server.py"])
    await expect(page.locator("iframe:not([hidden])")).to_have_count(0)
    assert "#" not in page.url

    for name, words in (("%3Cimg%20src%3Dx%3E.py", "cannot be in a name"), ("é b.py", "not pinned to a commit")):
        await page.get_by_role("button", name="Import").click()
        await page.get_by_label("Public address").fill(f"{origin}/o/r/main/{name}")
        await page.get_by_role("button", name="Open the address").click()
        await expect(told).to_contain_text(words)
    await expect(text).to_have_text("<b>fetched = 2</b>")

    for other in ("https://raw.githubusercontent.com/o/r/main/a.py", "http://127.0.0.1:9/a.py", "javascript:alert(1)"):
        await page.goto("about:blank")
        await page.goto(f"{address}#from={other}")
        await expect(told).to_contain_text("opens files of")
        await expect(text).not_to_have_text("")
    allowed = (address, origin, "about:", "blob:", "data:")
    assert [url for url in requested if not url.startswith(allowed)] == []
    await page.goto("about:blank")
    await page.goto(f"{address}#from={origin}/missing.py")
    await expect(told).to_contain_text("cannot be fetched (404)")
