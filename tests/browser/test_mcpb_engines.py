"""MCP-B in Firefox and in WebKitGTK, once through: a bundle in a tab, in a frame, and a page in Python as client.

Chromium is the reference.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import PAGES
from tests.browser.engines import Engine, until
from tests.browser.mcpb import bundle_peers
from tests.support.built import SERVERS

ADD = "return (await mcpb.call(%d, 'callTool', { name: 'add', arguments: { a: 2, b: 3 } })).result.structuredContent"
CALL = "return (await mcpb.call(%d, 'callTool', { name: '%s' })).result.structuredContent"
FAIL = "return (await mcpb.call(%d, 'callTool', { name: 'fail' })).result.isError"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with the official peers."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copy(PAGES / "mcpb.html", folder)
    bundle_peers(folder)
    return folder


@pytest.mark.extended
def test_page_servers_and_clients_once_through(engine: Engine, pages: Path, tmp_path: Path) -> None:
    peers = (
        f"await new Promise((done) => setTimeout(() => {{ {(pages / 'mcpb_page.js').read_text('utf-8')}; done(); }}));"
    )
    with serve_folder(pages) as host, serve_folder(tmp_path) as served:
        built = build(SERVERS / "pageserver", tmp_path, allowed_origins=[host.origin])
        tabbed = build(SERVERS / "tabbed", tmp_path)

        # In a frame, for the real iframe client.
        engine.open(f"{host.origin}/mcpb.html")
        until(engine, "document.documentElement.dataset.state === 'loaded'")
        url = f"{served.origin}/{built.url_path}"
        number = engine.run(f"return mcpb.iframeClient({json.dumps(url)})")
        assert engine.run(ADD % number) == {"result": 5}
        engine.run(f"mcpb.watch({number}, 'hang', {{ tag: 'left' }})")
        assert engine.run(f"return mcpb.heard({number}, 'progress')") == "progress: 1 of 2, left"
        engine.run("document.querySelector('iframe').src += ''")
        assert engine.run(f"return mcpb.heard({number}, 'watched')").startswith("watched: error")

        # In a tab, for the real tab client.
        engine.open(url)
        until(engine, "document.querySelector('#mcpframe-page')?.dataset.state === 'standalone'")
        engine.run(peers)
        number = engine.run("return mcpb.tabClient()")
        assert engine.run(ADD % number) == {"result": 5}
        assert engine.run(FAIL % number) is True
        other = engine.run("return mcpb.tabClient()")
        engine.run(f"mcpb.watch({number}, 'hang', {{ tag: 'left' }})")
        assert engine.run(f"return mcpb.heard({number}, 'progress')") == "progress: 1 of 2, left"
        engine.run(f"mcpb.abort({number})")
        assert engine.run(f"return mcpb.heard({number}, 'watched')").startswith("watched: error")
        assert engine.run(CALL % (other, "ended")) == {"result": ["left"]}
        engine.run(f"mcpb.watch({number}, 'wait')")
        assert engine.run(CALL % (other, "meet")) == {"result": "here"}
        assert engine.run(f"return mcpb.heard({number}, 'watched')") == "watched: met"

        # Pages in Python: a client in its window, one around a frame, and a server.
        engine.open(f"{served.origin}/{tabbed.url_path}")
        until(engine, "document.documentElement.dataset.state === 'loaded'")
        engine.run(peers)
        engine.run("await mcpb.serve('tab', [location.origin])")
        assert json.loads(engine.run("return useTab()"))["texts"] == ["5", "no luck"]
        framed = f"{host.origin}/mcpb.html#serve={served.origin}"
        assert json.loads(engine.run(f"return useFrame({json.dumps(framed)})"))["server"] == "a iframe server"
        engine.run("""held.serve('{"channel": "mine"}')""")
        number = engine.run("return mcpb.tabClient(null, 'mine')")
        assert engine.run(ADD % number) == {"result": 5}
        engine.run("await held.stop()")
        assert engine.run(f"return mcpb.heard({number}, 'closed')") == "closed"
