"""A form for a tool of a page's own server: its user's, and the tool that Chromium makes of it (WebMCP)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Frame, Page, expect

from mcpframe.kit.web.serve import serve_folder
from tests.browser.by_hand import newest_frame
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins
from tests.browser.test_accessibility import complaints
from tests.browser.webmcp import profile
from tests.support.built import SERVERS, build_plain

CALL = """async (input) => {
    const [tool] = await document.modelContext.getTools();
    return JSON.parse(await document.modelContext.executeTool(tool, input));
}"""
SCHEMA = {
    "name": {"type": "string", "description": "Who comes."},
    "seats": {"type": "number", "description": "Seats", "minimum": 1, "maximum": 9, "multipleOf": 1},
}


async def framed(page: Page, origins: Origins, url: str) -> Frame:
    """Frame the bundle, and return its frame once it shows the form."""
    await page.goto(f"{origins.host}/host.html")
    await page.wait_for_function("() => window.lab")
    await page.evaluate("options => lab.connect(options)", {"url": url, "permissions": ["tools"]})
    await page.evaluate("lab.next('opened')")
    frame = newest_frame(page)
    await frame.get_by_role("form", name="Book a table").wait_for(timeout=BOOT_PATIENCE * 1000)
    return frame


async def test_a_form_for_a_tool(webmcp_browser: Browser, origins: Origins, tmp_path: Path) -> None:
    with serve_folder(tmp_path) as served:
        built = build_plain(SERVERS / "booking", tmp_path, allowed_origins=[origins.host])
        async with profile(webmcp_browser) as (context, _):
            page = await context.new_page()
            frame = await framed(page, origins, f"http://bundle.localhost:{served.port}/{built.url_path}")
            await use_it(page, frame)
            await declare_it(frame)


async def use_it(page: Page, frame: Frame) -> None:
    """Do what a person does."""
    book = frame.get_by_role("button", name="Book a table")
    name = frame.get_by_label("Name")
    await book.click()
    await expect(name).to_be_focused()  # the browser says that it is required
    await name.fill("Nobody")
    await book.click()
    await expect(frame.get_by_role("alert")).to_contain_text("not welcome")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert await complaints(frame) == []
    await name.fill("Ada")
    await frame.get_by_label("Seats").fill("3")
    await frame.get_by_label("At (optional)").fill("2026-01-31T13:45")
    await frame.get_by_label("Where").select_option("outside")
    await frame.get_by_label("Quiet").check()
    await frame.get_by_label("Wishes").fill("a window\na <b>cake</b>")
    await name.press("Enter")
    result = frame.get_by_role("status")
    await expect(result).to_contain_text("3 for Ada (outside, quiet, a window, a <b>cake</b>, 2026-01-31T13:45:00")
    await expect(result).to_contain_text(re.compile(r"[+-]\d\d:\d\d\), by sep"))
    await expect(frame.get_by_role("alert")).to_be_empty()


async def declare_it(frame: Frame) -> None:
    """Do what an agent does, with its user."""
    tools: list[dict[str, Any]] = await frame.evaluate(
        "async () => (await document.modelContext.getTools()).map(({ window, ...tool }) => tool)"
    )
    assert [(tool["name"], tool["description"]) for tool in tools] == [("book", "Books a table.")]
    schema = tools[0]["inputSchema"]
    assert schema["required"] == ["name"]
    assert {key: schema["properties"][key] for key in SCHEMA} == SCHEMA
    assert schema["properties"]["where"]["enum"] == ["inside", "outside"]
    url = frame.url

    calling = asyncio.ensure_future(frame.evaluate(CALL, {"name": "Bo", "seats": 4, "quiet": False, "wishes": ""}))
    await frame.get_by_text("An agent has filled in this form").wait_for()
    assert await frame.get_by_label("Name").input_value() == "Bo"
    await frame.get_by_label("Seats").fill("5")
    assert not calling.done()
    await frame.get_by_role("button", name="Book a table").click()
    answer = await calling
    assert answer["content"][0]["text"].startswith("5 for Bo (outside")
    assert not answer["isError"]

    calling = asyncio.ensure_future(frame.evaluate(CALL, {"name": "Nobody"}))
    await frame.get_by_text("An agent has filled in this form").wait_for()
    await frame.get_by_role("button", name="Book a table").click()
    assert (await calling)["isError"]
    assert frame.url == url

    # Once the form is gone, whoever has removed it, the page registers the tool itself.
    await frame.evaluate("document.querySelector('#mcpframe-app').replaceChildren()")
    await frame.wait_for_function("async () => (await document.modelContext.getTools())[0]?.title === 'Book a table'")
    answer = await frame.evaluate(CALL, {"name": "Cy"})
    assert answer["content"][0]["text"] == "2 for Cy (inside), by webmcp"
