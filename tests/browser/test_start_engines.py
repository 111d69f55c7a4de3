"""Pages and workers start from Chromium's snapshot in Firefox and in WebKitGTK, which has no stack switching."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.engines import Engine, until
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import HOST

SERVER = '''
import msgspec
from pydantic import BaseModel

from mcpframe import FrameServer

server = FrameServer("started")


class Place(msgspec.Struct):
    name: str


class Start(BaseModel):
    place: str
    restored: int


@server.tool()
def start() -> Start:
    """Return where the server runs, and whether its Python was restored."""
    import js

    place = msgspec.convert({"name": "page" if hasattr(js, "document") else "worker"}, Place)
    return Start(place=place.name, restored=js.performance.getEntriesByName("mcpframe:restored").length)
'''


@pytest.mark.extended
@pytest.mark.parametrize("place", ["page", "worker"])
def test_a_server_starts_from_the_snapshot(engine: Engine, tmp_path: Path, place: str) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    (pages / "index.html").write_text(HOST)
    project = write_project(tmp_path / "project", f'runs_in = "{place}"', SERVER, '["msgspec"]')
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        path = build(project, bundles, allowed_origins=[page.origin], snapshot=True).url_path
        engine.open(f"{page.origin}/?frame={frame.origin}/{path}&tool=start")
        until(engine, "document.title.startsWith('{')")
        answer = json.loads(engine.run("return document.title"))
        assert answer["structuredContent"] == {"place": place, "restored": 1}, answer
        assert engine.run("return performance.getEntriesByName('mcpframe:restored').length", "iframe") == 1
        marks = engine.run("return performance.getEntriesByType('mark').map(({ name }) => name)", "iframe")
        assert not [name for name in marks if ":second file " in name], (
            "an engine runs functions that Chromium does not"
        )
