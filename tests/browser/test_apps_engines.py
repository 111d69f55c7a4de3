"""A view in Firefox and in WebKitGTK, in the official AppBridge, once through. Chromium is the reference."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from mcpframe.kit.bundle import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser import apps_hosts
from tests.browser.conftest import PAGES, SERVERS
from tests.browser.firefox import ensure_firefox, running
from tests.browser.webkit import ensure_webkit, running_webkit

LOADED = "while (document.documentElement.dataset.state !== 'loaded') await new Promise(requestAnimationFrame);"


class Engine(Protocol):
    """A browser with one tab."""

    def open(self, url: str) -> None:
        """Open a page."""

    def run(self, script: str) -> Any:
        """Run the body of an async function in it."""


@pytest.fixture(params=["firefox", "webkit"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    find, run = {"firefox": (ensure_firefox, running), "webkit": (ensure_webkit, running_webkit)}[request.param]
    program = find()
    if program is None:
        pytest.skip(f"no {request.param} is installed, and none could be: install firefox-esr or webkit2gtk-driver")
    with run(program, tmp_path / "profile") as engine:  # type: ignore[operator]
        yield engine


def test_a_view_once_through(engine: Engine, tmp_path: Path) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    shutil.copy(PAGES / "apps_host.html", pages)
    apps_hosts.bundle_script(PAGES / "apps_host_page.js", "2.0.4", pages / "apps_host_2.0.4.js")

    def call(method: str, params: Any) -> Any:
        return engine.run(f"return apps.call({json.dumps(method)}, {json.dumps(params)})")

    def tool(name: str, **arguments: Any) -> Any:
        return call("callTool", {"name": name, "arguments": arguments})["result"]["structuredContent"]

    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        built = build(SERVERS / "view", bundles, allowed_origins=[page.origin])
        url = f"{frame.origin}/{built.url_path}"
        engine.open(f"{page.origin}/apps_host.html?2.0.4")
        engine.run(LOADED)
        options = {"context": apps_hosts.CONTEXT, "answers": {"onopenlink": {}, "oncalltool": {"content": []}}}
        said = engine.run(f"return apps.open({json.dumps(url)}, {json.dumps(options)})")
        assert said["appInfo"] == {"name": "view", "version": "1.4", "title": "A view"}
        assert tool("add", a=2, b=3) == {"result": 5}
        call("sendToolInputPartial", {"arguments": {"place": "Wi"}})
        call("sendToolInput", {"arguments": {"place": "Wien"}})
        call("sendToolResult", {"content": [], "structuredContent": {"degrees": 21}})
        call("sendHostContextChange", {"theme": "light"})
        told = tool("told")
        assert [kind for kind, _ in told["heard"]][-2:] == ["ToolInput", "ToolResult"]
        assert (told["context"]["theme"], told["context"]["locale"]) == ("light", "de-AT")
        link = {"method": "open_link", "arguments": {"url": "https://example.org/"}}
        assert tool("ask", **link) == {"result": None}
        assert engine.run("return apps.taken('onopenlink')") == {"url": "https://example.org/"}
        called = {"method": "call_tool", "arguments": {"name": "forecast"}}
        assert tool("ask", **called)["result"]["content"] == []
        tool("grow", pixels=900)
        while engine.run("return apps.taken('size')")["height"] < 900:
            pass
        assert call("teardownResource", {"reason": "done"}) == {"result": {}}
