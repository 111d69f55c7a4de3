"""A bundle's tools in Firefox, which has no WebMCP: nothing is offered there but to npm's polyfill."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.firefox import ensure_firefox, running
from tests.browser.webmcp import polyfill_text
from tests.support.built import SERVERS

STANDALONE = """
while (!document.querySelector("#mcpframe-page[data-state=standalone]")) await new Promise(requestAnimationFrame);
return typeof document.modelContext;
"""
ISOLATED = "Object.defineProperty(globalThis, 'originAgentCluster', { value: true });"
"""As with the header `Origin-Agent-Cluster: ?1`, which the polyfill demands."""
USED = """
const names = async () => (await document.modelContext.getTools()).map((tool) => tool.name);
while ((await names()).length < 7) await new Promise(requestAnimationFrame);
const tool = (await document.modelContext.getTools()).find((tool) => tool.name === "add");
const call = async (input) => JSON.parse(await document.modelContext.executeTool(tool, JSON.stringify(input)));
return [(await call({ a: 2, b: 3 })).structuredContent.result, (await call({ a: 2 })).isError];
"""


@pytest.mark.extended
def test_the_polyfill_in_firefox(tmp_path: Path) -> None:
    program = ensure_firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox or firefox-esr")
    bundles = tmp_path / "bundles"
    bundles.mkdir()
    built = build(SERVERS / "webmcp", bundles, allowed_origins=["https://host.example"])
    with serve_folder(bundles) as served, running(program, tmp_path / "profile") as firefox:
        firefox.open(f"{served.origin}/{built.url_path}")
        assert firefox.run(STANDALONE) == "undefined"
        firefox.preload(ISOLATED + polyfill_text())
        firefox.open(f"{served.origin}/{built.url_path}?again")
        assert firefox.run(USED) == [5, True]
