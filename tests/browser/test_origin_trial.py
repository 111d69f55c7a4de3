"""A page with a token of an origin trial: its scripts have WebMCP in a browser that has it switched off."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import async_playwright

from mcpframe.kit.bundle.assembly.index_page import render_page
from mcpframe.kit.web.serve import serve_folder
from tests.support.origins import chromium_options
from tests.support.trial_tokens import TRUSTED, trial_token


async def test_a_page_has_webmcp_by_its_token(tmp_path: Path) -> None:
    with serve_folder(tmp_path) as served:
        policy = "default-src 'none'; script-src 'self'"
        tokens = {"with": [trial_token(served.origin)], "without": [], "other": [trial_token("https://other.example")]}
        for name, trials in tokens.items():
            page = render_page(title="", csp=policy, generator="", boot={}, trials=trials)
            assert page.partition(b"<script")[0].count(b'http-equiv="origin-trial"') == len(trials)
            (tmp_path / f"{name}.html").write_bytes(page)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(**chromium_options(f"--origin-trial-public-key={TRUSTED}"))
            tab = await browser.new_page()
            found = {}
            for name in tokens:
                await tab.goto(f"{served.origin}/{name}.html")
                found[name] = await tab.evaluate("typeof document.modelContext")
            await browser.close()
    assert found == {"with": "object", "without": "undefined", "other": "undefined"}
