"""Plain MCP around frames: a page in Python, framed servers in Firefox and WebKitGTK, and framed assistants in Firefox.

Chromium is the reference: `test_framed_assistants.py`, and `tests/bridge/test_plain.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from mcpframe.kit.web.serve import Served, serve_folder
from tests.browser.engines import KINDS, Engine, until
from tests.browser.plain_framed import ASSISTANTS, SERVERS, write_assistants, write_servers
from tests.support.built import built

ADD = json.dumps(json.dumps(["call", "add", {"a": 1, "b": 2}]))


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Served]]:
    """The page in Python, and the site of the framed pages: WebKitGTK knows no subdomain of localhost."""
    folder = tmp_path_factory.mktemp("framed")
    write_servers(folder)
    write_assistants(folder)
    root, result = built("framing")
    with serve_folder(root) as host, serve_folder(folder) as framed:
        yield f"http://localhost:{host.port}/{result.url_path}", framed


def frame(engine: Engine, sites: tuple[str, Served], page: str, *, serves: bool) -> None:
    """Open the page in Python, and let it frame another one."""
    host, framed = sites
    engine.open(host)
    until(engine, "document.documentElement.dataset.state === 'loaded'")
    first = json.dumps([f"http://127.0.0.1:{framed.port}/{page}", "plain_mcp", serves])
    engine.run(f"await ask({json.dumps(first)})")


@pytest.mark.extended
def test_servers(engine: Engine, sites: tuple[str, Served]) -> None:
    for name in SERVERS:
        frame(engine, sites, f"{name}.html", serves=False)
        assert json.loads(engine.run(f"return await ask({ADD})"))["content"][0]["text"] == "3", name


@pytest.mark.extended
@pytest.mark.parametrize("engine", KINDS[:1], indirect=True, ids=lambda kind: kind.name)
def test_assistants(engine: Engine, sites: tuple[str, Served]) -> None:
    for page in (*(f"{name}.html" for name in ASSISTANTS), f"{ASSISTANTS[1]}.html#auto"):
        frame(engine, sites, page, serves=True)
        until(engine, "globalThis.assistant", "iframe")
        server = None if "port" in page else "framing"
        assert engine.run("return [assistant.server, assistant.tools]", "iframe") == [server, ["add"]], page
        assert engine.run("return await assistant.call('add', { a: 1, b: 2 })", "iframe") == "3", page
