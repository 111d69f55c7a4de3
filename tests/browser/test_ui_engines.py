"""mcp-ui in Firefox and in WebKitGTK, once through: a bundle in the official client, and pages in a host in Python.

Chromium is the reference.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from mcpframe.frame.hosting.mcp_ui.resource import ui_resource
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import Served, serve_folder
from tests.browser.conftest import PAGES
from tests.browser.engines import Engine, until
from tests.browser.ui_hosts import bundle_ui_client
from tests.support.built import SERVERS

EXAMPLES = "ui_examples.html"
URI = "ui://test/it"
DATA = {"theme": "dark", "user": "Ada"}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Serve both hosts and all pages at two origins: WebKitGTK knows no subdomain of localhost."""
    folder = tmp_path_factory.mktemp("ui_engines")
    with serve_folder(folder) as host, serve_folder(folder) as tools:
        for page in ("ui_host.html", EXAMPLES):
            shutil.copy(PAGES / page, folder)
        bundle_ui_client(folder)
        build(SERVERS / "embedded", folder, allowed_origins=[f"http://localhost:{host.port}"])
        build(SERVERS / "hosting_ui", folder)
        yield host, tools


def resource_of(url: str, **options: Any) -> Any:
    block = ui_resource(URI, url=url, **options)
    return block.model_dump(mode="json", by_alias=True, exclude_none=True)["resource"]


def ask(engine: Engine, frame: str, method: str, **arguments: Any) -> Any:
    """Let the bundle in a frame use its host API."""
    call = json.dumps(json.dumps([method, arguments]))
    script = f"""
        document.querySelector('#answer').textContent = '';
        document.querySelector('#call').value = {call};
        document.querySelector('#call').dispatchEvent(new Event('change'));
    """
    engine.run(script, frame)
    until(engine, "document.querySelector('#answer').textContent", frame)
    return json.loads(engine.run("return document.querySelector('#answer').textContent", frame))


@pytest.mark.extended
def test_a_bundle_in_the_official_client(engine: Engine, sites: tuple[Served, Served]) -> None:
    host, tools = sites
    engine.open(f"http://localhost:{host.port}/ui_host.html")
    until(engine, "document.documentElement.dataset.state === 'loaded'")
    resource = resource_of(f"http://localhost:{tools.port}/embedded/", render_data=DATA)
    options = {
        "answers": {"tool": ["text", "sunny"], "intent": ["throws", {"message": "not now"}]},
        "htmlProps": {"autoResizeIframe": True},
    }
    engine.run(f"ui.open({json.dumps(resource)}, {json.dumps(options)})")
    until(engine, "document.querySelector('iframe')")
    until(engine, "document.querySelector('#ready')", "iframe")
    drawn = engine.run("return document.querySelector('#drawn').textContent", "iframe")
    assert json.loads(drawn) == DATA
    answer = ask(engine, "iframe", "call_tool", name="get-weather", arguments={"city": "Tokyo"})
    assert (answer["result"]["content"], answer["received"]) == ([{"type": "text", "text": "sunny"}], 1)
    failed = ask(engine, "iframe", "intent", intent="go")
    assert (failed["error"], failed["data"]) == ("HostError", {"message": "not now"})
    (tool, intent) = engine.run("return ui.all('action')")
    assert tool["payload"] == {"toolName": "get-weather", "params": {"city": "Tokyo"}}
    assert intent["payload"] == {"intent": "go", "params": {}}
    for pixels in (900, 300):
        engine.run(f"document.querySelector('#drawn').style.height = '{pixels}px'", "iframe")
        until(engine, f"Math.abs(document.querySelector('iframe').clientHeight - {pixels}) < 290")


@pytest.mark.extended
def test_pages_in_a_host_in_python(engine: Engine, sites: tuple[Served, Served]) -> None:
    host, tools = sites
    frame = "#place iframe"

    def say(**told: Any) -> None:
        engine.run(f"document.querySelector('#call').value = {json.dumps(json.dumps(told))}")
        engine.run("document.querySelector('#call').dispatchEvent(new Event('say'))")

    engine.open(f"http://localhost:{host.port}/hosting-ui/")
    until(engine, "document.querySelector('#call')")
    answers = {"tool": ["text", {"content": []}], "data": ["raises", "no such data"]}

    # The examples of the seed.
    seed = resource_of(f"http://localhost:{tools.port}/{EXAMPLES}", render_data=DATA, size=("50%", 300))
    say(resource=seed, answers=answers, options={"auto_resize": True})
    until(engine, f"document.querySelector('{frame}')")
    until(engine, "document.querySelector('#ui')?.textContent", frame)
    assert json.loads(engine.run("return document.querySelector('#ui').textContent", frame)) == DATA
    engine.run("document.querySelector('#tool').click()", frame)
    engine.run("document.querySelector('#data').click()", frame)
    until(engine, "document.querySelectorAll('#heard li').length === 4", frame)
    heard = engine.run("return [...document.querySelectorAll('#heard li')].map((item) => item.textContent)", frame)
    assert sorted(heard) == ["123: error LookupError: no such data", "received 123", "received t", 't: {"content":[]}']
    engine.run("document.querySelector('#size').click()", frame)
    until(engine, f"document.querySelector('{frame}').clientHeight === 456")
    say(render={"theme": "light"})
    engine.run("document.querySelector('#request').click()", frame)
    until(engine, """document.querySelector('#requested').textContent === '{"theme":"light"}'""", frame)
    say(close=True)
    until(engine, f"!document.querySelector('{frame}')")

    # A bundle of ours.
    ours = resource_of(f"http://localhost:{tools.port}/embedded/", render_data=DATA)
    say(resource=ours, answers=answers, options={"auto_resize": "height"})
    until(engine, f"document.querySelector('{frame}')")
    until(engine, "document.querySelector('#ready')", frame)
    assert json.loads(engine.run("return document.querySelector('#drawn').textContent", frame)) == DATA
    assert ask(engine, frame, "call_tool", name="now")["result"]["content"] == []
    failed = ask(engine, frame, "request_data", kind="methods")
    assert (failed["error"], failed["request"]) == ("HostError", "ui-request-data")
    until(engine, f"document.querySelector('{frame}').style.height.endsWith('px')")
