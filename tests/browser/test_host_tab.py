"""The empty host page of any origin, and a person's part of a setup; without Pyodide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Error, Frame, async_playwright

from mcpframe.kit.browser.devtools.host_page import OFF
from mcpframe.kit.browser.host_tab import HostTab, host_tab
from mcpframe.kit.browser.setup_answers import answer_setup
from mcpframe.kit.web.serve import Served, serve_folder
from tests.support.origins import chromium_options

HOST = "https://chat.example"
FORM = """<!doctype html><link rel="icon" href="data:,">
<label>Name <input id="name"></label>
<label>Often <input id="often" type="checkbox" checked></label>
<label>Colour <select id="colour"><option>red<option>green</select></label>
<label>Kinds <select id="kinds" multiple><option>a<option>b<option>c</select></label>
<label>File <input id="file" type="file" multiple></label>
<button id="save" onclick="document.title = 'saved'">Save</button>"""

TRANSFERRED = """() => new Promise((done) => {
    new PerformanceObserver((list) => {
        const [entry] = list.getEntriesByName(location + "kept.js");
        if (entry) done(entry.transferSize);
    }).observe({ type: "resource", buffered: true });
    fetch("kept.js");
})"""
"""Fetches a file; returns how many bytes were transferred, once the browser reports it."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "index.html").write_text(FORM)
    (tmp_path / "kept.js").write_text("// kept")
    (tmp_path / "_headers").write_text("/kept.js\n  Cache-Control: public, max-age=3600\n")
    with serve_folder(tmp_path) as served:
        yield served


async def framed(tab: HostTab, address: str) -> Frame:
    script = "url => new Promise((done) => { const frame = document.createElement('iframe');"
    script += " frame.onload = () => done(); frame.src = url; document.body.append(frame); })"
    await tab.page.evaluate(script, address)
    return tab.page.frames[1]


@pytest.fixture
async def profile(tmp_path: Path) -> AsyncIterator[BrowserContext]:
    """A profile that is launched as tests of authors have it."""
    async with async_playwright() as playwright:
        options = chromium_options(off=OFF)
        context = await playwright.chromium.launch_persistent_context(tmp_path / "profile", **options)
        yield context
        await context.close()


async def test_tabs_of_one_profile_share_the_cache_and_nothing_else(site: Served, profile: BrowserContext) -> None:
    transferred = []
    for _ in range(2):
        async with host_tab(profile, HOST) as tab:
            frame = await framed(tab, f"{site.origin}/")
            assert await tab.page.evaluate("origin") == HOST
            assert await frame.evaluate("localStorage.left ?? null") is None
            await frame.evaluate("localStorage.left = 'by the first'")
            transferred.append(await frame.evaluate(TRANSFERRED))
            await tab.note_storage(frame)
            await tab.forget(site.origin)
    assert transferred[0] > 0
    assert transferred[1] == 0


async def test_complaints_of_framed_pages_are_collected(profile: BrowserContext, site: Served) -> None:
    async with host_tab(profile, HOST) as tab:
        frame = await framed(tab, f"{site.origin}/")
        await frame.evaluate(
            "console.error('bad'); console.warn('not so bad'); setTimeout(() => { throw Error('worse') })"
        )
        await frame.evaluate("fetch('nothing.js')")
        await tab.settled()
        assert tab.complaints[0] == "bad"
        assert "worse" in tab.complaints[1] + tab.complaints[2]
        assert any("404" in text and "nothing.js" in text for text in tab.complaints)


async def test_a_setups_form_is_filled(context: BrowserContext, tmp_path: Path) -> None:
    page = await context.new_page()
    await page.set_content(FORM)
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text("x")
    answers = {"Name": 7, "Often": False, "Colour": "green", "Kinds": ["a", "c"], "#file": files, "Save": None}
    await answer_setup(page.main_frame, answers)
    assert await page.input_value("#name") == "7"
    assert not await page.is_checked("#often")
    assert await page.input_value("#colour") == "green"
    assert await page.eval_on_selector("#kinds", "list => [...list.selectedOptions].map((one) => one.value)") == [
        "a",
        "c",
    ]
    assert await page.eval_on_selector("#file", "input => input.files.length") == 2
    assert await page.title() == "saved"
    await answer_setup(page.main_frame, {"File": files[0]})
    assert await page.eval_on_selector("#file", "input => input.files.length") == 1


async def test_a_field_that_is_not_there_is_named(context: BrowserContext) -> None:
    page = await context.new_page()
    await page.set_content(FORM)
    page.set_default_timeout(300)
    with pytest.raises(Error, match="Surname"):
        await answer_setup(page.main_frame, {"Surname": "Lovelace"})
