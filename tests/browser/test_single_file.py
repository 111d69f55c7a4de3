"""A page that fetches nothing: one file, framed or from the disk, or a page whose parent hands over its files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from playwright.async_api import Page, expect

from mcpframe.kit.bundle.assembly.single_file import framed_page
from mcpframe.kit.bundle.output_root import read_bundle, write_single_file
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Origins, Troubles
from tests.browser.framed import PATIENCE, Framed
from tests.browser.test_second_files import EXPECTED
from tests.browser.test_second_files import SERVER as COLD
from tests.bundle.conftest import write_project
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended

DRAWN = f"""{COLD}

@server.ui
async def ui(session):
    await session.page.show("page.html")
    module = await session.page.import_module("module.js")
    session.page.element("main p").text = module.greeting("one file")
"""
PAGE_FILES = {
    "page.html": '<p></p><img src="dot.svg" alt="A dot">',
    "module.js": "export const greeting = (whom) => `Hello, ${whom}.`;",
    "dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><circle r="3"/></svg>',
    "style.css": "main { outline: 3px solid </rgb(1, 2, 3); outline: 3px solid rgb(1, 2, 3) }",
}
TABLE = 'assets = ["page.html", "module.js", "dot.svg"]\nstyles = ["style.css"]\nvisibility.requirement = "required"'
WARM = "performance.getEntriesByName('mcpframe:restored').length"
HAND_OVER = """
async ([folder, names]) => {
  const { FrameTransport } = await import("/host.js");
  const { Client } = await import("/mcp-client.js");
  const files = {};
  for (const [url, path] of Object.entries(names)) files[url] = await (await fetch(`${folder}/${path}`)).blob();
  const html = await (await fetch(`${folder}/framed.html`)).text();
  const answers = [];
  const boot = new DOMParser().parseFromString(html, "text/html").getElementById("mcpframe-boot").textContent;
  const { wasm, libraries, snapshot } = JSON.parse(boot).files;
  const started = [wasm, ...libraries, ...(snapshot ? [...snapshot.layers, snapshot.decoder] : [])];
  const isFirst = ([url]) => started.some((file) => file.url === url);
  const entries = Object.entries(files);
  const [first, rest] = [entries.filter(isFirst), entries.filter((each) => !isFirst(each))].map(Object.fromEntries);
  const later = Promise.resolve({ boot, files: rest, styles: ["#mcpframe-page { outline: 1px dotted }"] });
  const inParts = { html, files: Promise.resolve(first), later };
  for (const handed of [{ html, files }, inParts]) {
    const iframe = document.createElement("iframe");  // Playwright can lose one that loads a second page
    iframe.sandbox = "allow-scripts allow-forms";
    document.body.append(iframe);
    const client = new Client({ name: "parent", version: "1" });
    await client.connect(new FrameTransport({ iframe, handed, opaque: true, timeout: 120_000 }));
    for (const [name, args] of [["add", { a: 1, b: 2 }], ["cold", { depth: 50 }]]) {
      answers.push((await client.callTool({ name, arguments: args })).structuredContent?.result);
    }
    await client.close();
  }
  return answers;
}
"""


class Built(NamedTuple):
    """A bundle: its output root, its folder, and its one file, which is elsewhere."""

    out: Path
    name: str
    page: Path


@pytest.fixture(scope="module", params=["page", extended("worker")])
def single(request: pytest.FixtureRequest, origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A server that runs in its page, and draws, and one in a worker."""
    place, folder = request.param, tmp_path_factory.mktemp("single")
    draws = place == "page"
    table = f'runs_in = "{place}"\n{TABLE if draws else ""}'
    project = write_project(folder / "project", table, DRAWN if draws else COLD, name=f"single-{place}")
    for path, text in PAGE_FILES.items():
        (project / path).write_text(text)
    result = build(project, folder / "dist", allowed_origins=[origins.host], snapshot=SNAPSHOTS)
    page = write_single_file(folder / "dist", result.name)
    (folder / "alone").mkdir()
    return Built(folder / "dist", result.name, page.rename(folder / "alone" / page.name))


@pytest.mark.parametrize(
    "options", [extended({}), {"sandbox": "allow-scripts", "opaque": True}], ids=["of its origin", "opaque"]
)
async def test_a_framed_file_serves_without_another_request(
    host_page: Page, single: Built, options: dict[str, Any]
) -> None:
    requested: set[str] = set()
    host_page.on("request", lambda request: requested.add(request.url))
    with serve_folder(single.page.parent) as site, anyio.fail_after(PATIENCE):
        address = f"http://bundle.localhost:{site.port}/{single.page.name}"
        for _ in ("cold", "warm"):
            page = Framed(host_page, address, **options)
            async with page.client:
                assert await page.call("add", a=1, b=2) == 3
                assert await page.call("cold", depth=50) == EXPECTED
                frame = await page.frame()
                assert await frame.evaluate(WARM) == SNAPSHOTS
                if single.name == "single-page":
                    await expect(frame.locator("main p")).to_have_text("Hello, one file.")
                    await expect(frame.locator("main")).to_have_css("outline-color", "rgb(1, 2, 3)")
                    assert await frame.locator("img").evaluate(
                        "async (each) => (await each.decode(), each.naturalWidth)"
                    )
    assert {url for url in requested if url.startswith("http") and str(site.port) in url} == {address}


@pytest.mark.usefixtures("typescript_client")
async def test_a_parent_hands_the_files_to_a_frame_of_opaque_origin(
    host_page: Page, site: Path, origins: Origins, single: Built
) -> None:
    html, names = framed_page(single.name, read_bundle(single.out, single.name)[0])
    folder = site / single.name
    shutil.copytree(single.out, folder, dirs_exist_ok=True)
    (folder / "framed.html").write_bytes(html)
    requested: list[str] = []
    with anyio.fail_after(PATIENCE):
        host_page.on("request", lambda request: requested.append(request.url))
        answers = await host_page.evaluate(HAND_OVER, [f"/{single.name}", names])
    assert answers == [3, EXPECTED, 3, EXPECTED]
    framed = host_page.locator("iframe").last.content_frame
    await expect(framed.locator("#mcpframe-page")).to_have_css("outline-style", "dotted")
    of_files = [url for url in requested if f"/{single.name}/" in url]
    assert len(of_files) == len(names) + 1, "only the parent has fetched, and each file once"


async def test_a_file_is_opened_from_the_disk(context: Any, troubles: Troubles, single: Built) -> None:
    page = await context.new_page()
    await page.goto(single.page.as_uri())
    await expect(page.locator("#mcpframe-status")).to_contain_text("This page is an MCP server")
    await expect(page.locator("dt")).to_have_text(["add", "cold"])


async def test_a_changed_file_is_refused(host_page: Page, troubles: Troubles, single: Built, tmp_path: Path) -> None:
    """Its policy is for its scripts, and the boot config has the hashes of all others."""
    for part in ("Content Security Policy", "integrity", "is not the file that was built", "not used"):
        troubles.expect(part)
    text = single.page.read_text()
    files = json.loads(re.findall(r'id="mcpframe-boot"[^>]*>(.*?)</script>', text)[0])["files"]
    for entry in (files["pyodide"], files["wasm"]):
        start = text.index(">", text.index(f'data-file="{entry["url"]}"')) + 1
        end = text.index("<", start)
        changed = text[:start] + text[text.index(">", text.index("data-file=")) + 1 :].partition("<")[0] + text[end:]
        (tmp_path / "changed.html").write_text(changed)
        await host_page.goto((tmp_path / "changed.html").as_uri())
        await expect(host_page.get_by_role("alert")).to_contain_text("is not the file that was built")
