"""The extension in a real Chromium, with pages of npm's packages, and the official client at a port."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from mcpframe.kit.hub.extension import build_extension, match_patterns
from tests.bridge.hub_pages import Site, hub_site
from tests.browser.extension import Extended, chromium_with, happens
from tests.browser.outers import PATIENCE

SHOP = [f"website_tool_shop_localhost_tab1_{name}" for name in ("add", "fail", "wait", "grow", "cart")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("pages")) as served:
        yield served


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_extension(tmp_path_factory.mktemp("extension") / "built")


@pytest.fixture
async def extended(extension: Path, tmp_path: Path) -> AsyncIterator[Extended]:
    async with chromium_with(extension, tmp_path) as running:
        yield running


async def test_tools_of_pages_are_called(extended: Extended, pages: Site) -> None:
    page = await extended.context.new_page()
    await page.goto(pages.shop())
    async with extended.client() as client:

        async def offered() -> bool:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names == set(SHOP)

        await happens(offered)
        with anyio.fail_after(PATIENCE):
            result = await client.call_tool(SHOP[0], {"a": 2, "b": 3})
        assert result.content[0].text == "5"


def test_what_chrome_demands_of_an_extension(tmp_path: Path) -> None:
    out = tmp_path / "extension"
    for sites in ([], ["https://shop.example", "http://localhost:8080"]):
        assert build_extension(out, sites=sites, longest_name=64) == out
        manifest = json.loads((out / "manifest.json").read_text())
        settings = json.loads((out / "settings.json").read_text())
        patterns = [each for site in sites or ["*"] for each in match_patterns(site)]
        assert set(manifest["host_permissions"]) == set(patterns)
        assert {pattern for each in manifest["content_scripts"] for pattern in each["matches"]} == set(patterns)
        assert (settings["sites"], settings["longest_name"]) == (sites or ["*"], 64)
    policy = manifest["content_security_policy"]["extension_pages"]
    assert "script-src 'self' 'wasm-unsafe-eval';" in policy
    files = [path for path in out.rglob("*") if path.is_file()]
    assert not [path.name for path in out.iterdir() if path.name.startswith("_")]
    assert any(path.name.startswith("snapshot.") for path in files)
    for path in files:
        if path.suffix == ".html":
            text = path.read_text()
            assert not [tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag and "json" not in tag]
            assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
        if path.suffix in (".js", ".mjs") and path.parent.name != "shared" and "pyodide" not in path.parent.name:
            assert not re.search(r"\beval\(|new Function|import\(", path.read_text()), path
