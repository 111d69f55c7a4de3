"""axe-core finds nothing in any page for people, light or dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame, Page, expect

from docs.generate.site import render
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.hub.extension.build import build_extension
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import TemplateSite
from tests.browser.extension import chromium_with
from tests.browser.inspecting import InspectorPage
from tests.browser.outers import PATIENCE
from tests.support.suites import except_for

SCHEMES: Any = ("light", "dark")
PAGES = (
    "tutorial/first-server",
    "how-to/existing-servers",
    "how-to/http",
    "how-to/long-tools",
    "how-to/page",
    "how-to/pictures",
    "how-to/publishing",
    "how-to/questions",
    "reference/commands",
    "reference/errors",
    "reference/python",
)
RUN = """async () => {
    const rules = { "target-size": { enabled: true } };
    const { violations } = await axe.run(document, { rules, iframes: false });
    const told = (id, { target, any }) => `${id}: ${target} ${any[0]?.message ?? ""}`;
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => told(id, node)));
}"""


async def complaints(page: Page | Frame) -> list[str]:
    """Return what axe finds in a document, without its frames; what is too small for a finger, too."""
    await page.evaluate((install_locked(checkout_dir()) / "axe-core" / "axe.min.js").read_text("utf-8"))
    found: list[str] = await page.evaluate(RUN)
    return found


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the documentation's site."""
    folder = tmp_path_factory.mktemp("site")
    render(checkout_dir(), folder)
    with serve_folder(folder) as served:
        yield served.origin


@pytest.fixture
async def page(host_page: Page) -> Page:
    return host_page


@pytest.mark.parametrize("name", except_for(PAGES, "how-to/page", "reference/commands"))
async def test_the_documentation(page: Page, docs: str, name: str) -> None:
    await page.goto(f"{docs}/{name}.html")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == [], scheme


async def test_the_documentation_is_read_on(page: Page, docs: str) -> None:
    """Commands are copied without prompts and output; a page leads to the next; models have a list of the pages."""
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{docs}/tutorial/first-server.html")
    await page.get_by_role("button", name="Copy to clipboard").nth(1).click()
    await page.wait_for_function("navigator.clipboard.readText().then((text) => text.endsWith('mcpframe dev'))")
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == "mcpframe new my-server && cd my-server\nmcpframe test\nmcpframe dev"
    await page.get_by_role("link", name="Next: A first view").click()
    await expect(page.get_by_role("link", name="Previous: A first server")).to_be_visible()
    llms = await (await page.request.get(f"{docs}/llms.txt")).text()
    listed = re.findall(r"^- \[.+\]\((.+\.md)\): \S.*\.$", llms, flags=re.MULTILINE)
    assert len(listed) == llms.count("\n- [")
    assert {"index.md", "tutorial/first-view.md", "reference/protocol/sep.md"} <= {*listed}
    for name in listed:
        markdown = await (await page.request.get(f"{docs}/{name}")).text()
        assert markdown.startswith("# ")
        assert "<!-- generated" not in markdown


async def test_the_documentation_follows_the_system(page: Page, docs: str) -> None:
    await page.emulate_media(color_scheme="light")
    await page.goto(f"{docs}/index.html")
    for scheme, name in (("light", "default"), ("dark", "slate"), ("light", "default")):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", name)
    await page.emulate_media(color_scheme="dark")
    await page.reload()
    await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")


@pytest.mark.parametrize("name", except_for(["pi-calculator", "json-analyzer"], "json-analyzer"))
async def test_a_servers_page_in_a_tab(page: Page, templates: TemplateSite, name: str) -> None:
    await page.goto(templates.url(name))
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT_PATIENCE * 1000)
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []


async def test_the_inspector_and_a_framed_page(inspector: InspectorPage) -> None:
    page = inspector.page
    assert await complaints(page) == []
    await inspector.button("Pi calculator").click()
    server = await inspector.server("Pi calculator")
    await server.button("Show page").click()
    await expect(server.frame.locator("svg, canvas").first).to_be_visible()
    await server.tab("Wire")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        for frame in page.frames:
            assert await complaints(frame) == [], (scheme, frame.url)


async def test_every_panel_of_the_inspector(inspector: InspectorPage) -> None:
    page = inspector.page
    await inspector.button("Everything").click()
    server = await inspector.server("Everything")
    await server.call("weather", city="Oslo")
    await server.answers("Structured content")
    for tab in ("Tools", "Resources", "Prompts", "As a view", "Logs", "Timeline", "About"):
        await server.tab(tab)
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            assert await complaints(page) == [], (tab, scheme)


async def test_the_popup_of_the_extension(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    built = build_extension(tmp_path_factory.mktemp("extension") / "built", sites=["http://shop.localhost"])
    async with chromium_with(built, tmp_path) as extended:
        popup = await extended.context.new_page()
        popup.set_default_timeout(PATIENCE * 1000)
        await popup.goto(f"{extended.origin}/popup.html")
        await expect(popup.locator("#status")).to_contain_text("0 tools", timeout=BOOT_PATIENCE * 1000)
        await popup.evaluate("() => document.querySelector('#log ol').append(document.createElement('li'))")
        for scheme in SCHEMES:
            await popup.emulate_media(color_scheme=scheme)
            assert await complaints(popup) == []
