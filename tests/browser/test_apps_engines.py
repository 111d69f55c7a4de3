"""MCP Apps in Firefox and in WebKitGTK, once through: a view in the official AppBridge, and one in a host in Python.

Chromium is the reference.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import Served, serve_folder
from tests.browser import apps_hosts
from tests.browser.conftest import PAGES
from tests.browser.engines import Engine, until
from tests.browser.pairs import build_conversation
from tests.support.built import SERVERS

LOADED = "while (document.documentElement.dataset.state !== 'loaded') await new Promise(requestAnimationFrame);"


@pytest.mark.extended
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


PROXY = (".call iframe",)
"""The frame of the sandbox proxy in the conversation. In it is the view, which frames the server's page."""
VIEW = (*PROXY, "iframe", "iframe")


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Serve the template conversation, and the forecast that it frames: WebKitGTK knows no subdomain of localhost."""
    pages = tmp_path_factory.mktemp("pages")
    with serve_folder(pages) as host, serve_folder(pages) as tools:
        origins = {"host": f"http://localhost:{host.port}", "tools": f"http://localhost:{tools.port}"}
        build_conversation(pages, tmp_path_factory.mktemp("projects"), **origins)
        yield host, tools


@pytest.mark.extended
def test_view_and_host_in_python_once_through(engine: Engine, conversation: tuple[Served, Served]) -> None:
    host, tools = conversation
    engine.open(f"http://localhost:{host.port}/conversation/")
    until(engine, "document.querySelector('#standing')?.textContent === 'Connected to Forecast.'")

    engine.run("document.querySelector('#fields input').value = 'Wien'; document.querySelector('#call').click()")
    # The frame has the height of the view once that has said it, and so all the frames in it are loaded.
    until(engine, "document.querySelector('.call iframe')?.getBoundingClientRect().height > 200")
    until(engine, """document.querySelector('.forecast[data-state="shown"] h1')?.textContent === 'Wien'""", *VIEW)
    until(engine, "document.querySelector('.message.tool')?.textContent.startsWith('Wien. Invented')")
    assert engine.run("return location.origin", *PROXY) == f"http://127.0.0.1:{host.port}"
    assert engine.run("return location.origin", *VIEW) == f"http://localhost:{tools.port}"

    # What the user looks at reaches the model.
    day = """document.querySelector('[data-day="2"]')"""
    engine.run(f"{day}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))", *VIEW)
    until(engine, "document.querySelector('#known').textContent.startsWith('The user looks at')")

    # A message needs the user's consent.
    engine.run("document.querySelector('#ask').click()", *VIEW)
    until(engine, "document.querySelector('#questions').textContent.includes('What can I do on')")
    engine.run("document.querySelector('#questions button').click()")
    until(engine, "document.querySelector('.message.user')?.textContent.includes('What can I do on')")

    # The view calls a tool of its server.
    engine.run("document.querySelector('#refresh').click()", *VIEW)
    until(engine, "document.querySelector('#status').textContent === 'Run 2 of the model.'", *VIEW)

    for theme in ("dark", "light"):
        engine.run(
            f"""
            const theme = document.querySelector('#theme');
            theme.value = {json.dumps(theme)};
            theme.dispatchEvent(new Event('change', {{ bubbles: true }}));
            """
        )
        until(engine, f"document.documentElement.dataset.theme === {json.dumps(theme)}", *VIEW)

    # The frame is as high as the view.
    view = engine.run("return document.querySelector('.forecast').getBoundingClientRect().height", *VIEW)
    shown = "document.querySelector('.call iframe').getBoundingClientRect().height"
    until(engine, f"{shown} >= {view} && {shown} < {view + 60}")

    engine.run("document.querySelector('.call header button').click()")
    until(engine, "!document.querySelector('.call') && !document.querySelector('#known-none').hidden")
