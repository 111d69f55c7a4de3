"""`<mcp-server>` in Firefox and WebKitGTK."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mcpframe.kit.base.bundled_scripts import ELEMENT_SCRIPT, bundled_script
from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import PAGES
from tests.browser.engines import Engine, until
from tests.release.host_package import bundled_file
from tests.support.built import build_plain

SHADOW = "document.querySelector('mcp-server').shadowRoot"


@pytest.mark.extended
def test_it_starts_and_a_form_calls_a_tool(engine: Engine, tmp_path: Path) -> None:
    modules = install_locked(checkout_dir())
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    for name in ("element.html", "element.css", "element_page.js"):
        shutil.copy(PAGES / name, pages)
    (pages / "element.js").write_text(bundled_script(ELEMENT_SCRIPT), "utf-8")
    (pages / "bundled.js").write_text(bundled_file(modules), "utf-8")
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        path = build_plain(templates_dir() / "pi-calculator", bundles, allowed_origins=[page.origin]).url_path
        engine.open(f"{page.origin}/element.html")
        until(engine, "window.add")
        engine.run(f"add({json.dumps({'src': f'{frame.origin}/{path}'})})")
        engine.run(f"{SHADOW}.querySelector('[part=start]').click()")
        until(engine, "document.querySelector('mcp-server').matches(':state(ready)')")
        engine.run(f"{SHADOW}.querySelector('details').open = true")
        until(engine, f"{SHADOW}.querySelector('input')")
        engine.run(f"{SHADOW}.querySelector('form').requestSubmit()")
        assert engine.run(f"return {SHADOW}.querySelector('[part=problem]').textContent")
        engine.run(f"{SHADOW}.querySelector('input').value = '1000'; {SHADOW}.querySelector('form').requestSubmit()")
        until(engine, "events.some(({ name }) => name === 'mcp-result')")
        assert "1,000 points" in engine.run(f"return {SHADOW}.querySelector('[part=result]').textContent")
