"""Framed servers in JavaScript that speak plain MCP, of each package that people have; and one that never answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.programs import INITIALIZE, PATIENCE, ROOT, environment, start
from tests.browser.npm_scripts import beside

PAGES = Path(__file__).parents[1] / "browser" / "pages"
PAGE = '<!doctype html><title>{0}</title><script type="module" src="{0}.js"></script>'
OLDER = {
    "ext-apps-1.7": 'import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";'
    "serve(new PostMessageTransport(parent, parent));",
    "plain-mcp": 'import { PostMessageMCPTransport } from "@nuwa-ai/ui-kit"; serve(new PostMessageMCPTransport());',
}
"""Servers of SDK 1.x: the folder of their packages, and the script with their transport."""
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


def call(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `mcpframe call` for the tool `add`."""
    command = [sys.executable, "-m", "mcpframe", "call", url, "add", *arguments, "--dialect", "plain_mcp"]
    return subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    bundle_module(str(PAGES / "plain_server_page.js"), folder / "server.js", install_locked(checkout_dir()))
    for packages, script in OLDER.items():
        common = beside(packages, PAGES / "plain_server_1_page.js")
        entry = common.with_name("plain_entry.js")
        write_file(entry, f'import {{ serve }} from "./{common.name}"; {script}'.encode())
        bundle_module(str(entry), folder / f"{packages}.js", install_locked(checkout_dir()))
    for name in ("server", "silent", *OLDER):
        (folder / f"{name}.html").write_text(PAGE.format(name))
    (folder / "silent.js").write_text("parent.postMessage({ source: 'somebody', type: 'ready' }, '*');")
    with serve_folder(folder) as served:
        yield served.origin


async def test_a_server_that_posts_mcp_as_it_is_is_bridged(site: str, tmp_path: Path) -> None:
    where = f"{site}/server.html"
    async with start(where, "--dialect", "plain_mcp", "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.request(1, "initialize", **INITIALIZE)
        assert (await bridge.next())["result"]["serverInfo"]["name"] == "by npm"
        await bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await bridge.request(2, "tools/call", **ADD)
        assert (await bridge.answer(2))["result"]["content"] == [{"type": "text", "text": "3"}]
        await bridge.request(3, "unheard/of")
        assert (await bridge.answer(3))["error"]["code"] == -32601


@pytest.mark.parametrize("packages", OLDER)
def test_those_of_older_sdks_are_called(site: str, packages: str) -> None:
    done = call(f"{site}/{packages}.html", "a=1", "b=2", "--json")
    assert json.loads(done.stdout)["content"][0]["text"] == "3", done.stderr


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_it_is_called_from_the_command_line(site: str, era: str) -> None:
    done = call(f"{site}/server.html", "a=1", "b=2", "--era", era, "--json")
    assert json.loads(done.stdout)["content"][0]["text"] == "3", done.stderr


async def test_a_page_that_answers_nothing_is_an_error_that_names_what_was_tried(site: str, tmp_path: Path) -> None:
    where = f"{site}/silent.html"
    async with start(where, "--dialect", "plain_mcp", "--timeout", "3", profile=tmp_path) as bridge:
        await bridge.request(1, "initialize", **INITIALIZE)
        message = (await bridge.next())["error"]["message"]
        assert "no ping of plain MCP within 3 s" in message
        assert (await bridge.ended())[0] == 1


def test_so_it_is_for_a_call(site: str) -> None:
    done = call(f"{site}/silent.html", "--timeout", "3")
    assert done.returncode == 1
    assert "no ping of MCP" in done.stderr
