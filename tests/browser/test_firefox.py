"""A bundle in Firefox: framed by host.js on another origin, with the TypeScript client. Chromium is the reference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.host_page import bundle_client, write_host_page
from mcpframe.kit.web.serve import serve_folder
from tests.browser.firefox import Firefox, ensure_firefox, running
from tests.bundle.conftest import SERVER
from tests.bundle.served_pages import HOST
from tests.support.suites import extended

CONNECTED = """
while (document.documentElement.dataset.state === "connecting") await new Promise(requestAnimationFrame);
return document.querySelector("#status").textContent;
"""

CALLED = """
const card = document.querySelector("[data-tool=calculate_pi]");
card.querySelector("[name=iterations]").value = "50000";
card.querySelector("button").click();
const done = '.result[data-state="done"] .structured, .result[data-state="error"]';
while (!card.querySelector(done)) await new Promise(requestAnimationFrame);
return JSON.parse(card.querySelector(done).textContent);
"""


RESTORED = """return performance.getEntriesByName("mcpframe:restored").length;"""


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = ensure_firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox or firefox-esr")
    with running(program, tmp_path / "profile") as firefox:
        yield firefox


ANSWERED = """
while (!document.title.startsWith("{")) await new Promise(requestAnimationFrame);
return [JSON.parse(document.title).structuredContent.result, Number(document.body.dataset.handshakes)];
"""


@pytest.mark.extended
def test_a_host_that_answers_the_first_handshake_needs_no_other(firefox: Firefox, tmp_path: Path) -> None:
    pages, project, bundles = (tmp_path / name for name in ("pages", "project", "bundles"))
    for folder in (pages, project, bundles):
        folder.mkdir()
    (pages / "index.html").write_text(HOST)
    (project / "pyproject.toml").write_text('[project]\nname = "adder"\n')
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        (project / "server.py").write_text(SERVER)
        build(project, bundles, allowed_origins=[page.origin])
        firefox.open(f'{page.origin}/?frame={frame.origin}/adder/&tool=add&arguments={{"a":2,"b":3}}')
        assert firefox.run(ANSWERED) == [5, 1]


@pytest.mark.extended
@pytest.mark.parametrize("snapshot", [True, extended(False)], ids=["snapshot", "plain"])
def test_a_tool_answers(firefox: Firefox, tmp_path: Path, snapshot: bool) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        built = build(templates_dir() / "pi-calculator", bundles, allowed_origins=[page.origin], snapshot=snapshot)
        write_host_page(pages, f"{frame.origin}/{built.name}/", bundle_client(install_locked(checkout_dir())))
        firefox.open(f"{page.origin}/")
        assert firefox.run(CONNECTED) == "Connected: 2 tools."
        answer = firefox.run(CALLED)
        assert firefox.run(RESTORED, "iframe") == int(snapshot)
    assert answer["points"] == 50_000
    assert abs(answer["pi"] - math.pi) < 0.1
