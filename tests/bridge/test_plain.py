"""Framed servers in JavaScript that speak plain MCP, of each package that people have; and one that never answers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.hub_programs import has, http_hub, text
from tests.bridge.programs import INITIALIZE, PATIENCE, ROOT, environment, start
from tests.browser.plain_framed import OLDER_SERVERS, write_servers, write_silent
from tests.support.suites import extended, newest_first

AROUND = """<!doctype html><title>Around</title><link rel="icon" href="data:,"><body></body>
<script type="module" src="around.js"></script>
"""
EXAMPLE = ROOT / "docs" / "examples" / "plain-page-server" / "page.js"
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `mcpframe`, and wait for its end."""
    command = [sys.executable, "-m", "mcpframe", *arguments, "--dialect", "plain_mcp"]
    return subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    write_servers(folder)
    write_silent(folder)
    (folder / "around.html").write_text(AROUND)
    shutil.copy(static_dir() / "host" / "page-server.js", folder)
    with serve_folder(folder) as served:
        framed = f"{served.origin.replace('127.0.0.1', 'tools.localhost')}/server.html"
        (folder / "around.js").write_text(EXAMPLE.read_text("utf-8").replace("https://tools.example/adder/", framed))
        yield served.origin


@pytest.mark.parametrize("page", ["server", "port"])
async def test_a_server_that_posts_mcp_as_it_is_is_bridged(site: str, page: str, tmp_path: Path) -> None:
    where = f"{site}/{page}.html"
    async with start(where, "--dialect", "plain_mcp", "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.request(1, "initialize", **INITIALIZE)
        assert (await bridge.next())["result"]["serverInfo"]["name"] == "by npm"
        await bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await bridge.request(2, "tools/call", **ADD)
        assert (await bridge.answer(2))["result"]["content"] == [{"type": "text", "text": "3"}]
        await bridge.request(3, "unheard/of")
        assert (await bridge.answer(3))["error"]["code"] == -32601


@pytest.mark.parametrize("name", newest_first(list(OLDER_SERVERS)))
def test_those_of_older_sdks_are_called(site: str, name: str) -> None:
    done = run("call", f"{site}/{name}.html", "add", "a=1", "b=2", "--json")
    assert json.loads(done.stdout)["content"][0]["text"] == "3", done.stderr


@pytest.mark.parametrize("era", ["auto", extended("legacy")])
def test_it_is_called_from_the_command_line(site: str, era: str) -> None:
    done = run("call", f"{site}/server.html", "add", "a=1", "b=2", "--era", era, "--json")
    assert json.loads(done.stdout)["content"][0]["text"] == "3", done.stderr


async def test_a_page_that_answers_nothing_is_an_error_that_names_what_was_tried(site: str, tmp_path: Path) -> None:
    where = f"{site}/silent.html"
    async with start(where, "--dialect", "plain_mcp", "--timeout", "3", profile=tmp_path) as bridge:
        await bridge.request(1, "initialize", **INITIALIZE)
        message = (await bridge.next())["error"]["message"]
        assert "no ping of plain MCP, neither to its window nor over a port" in message
        assert "within 3 s" in message
        assert (await bridge.ended())[0] == 1


def test_it_is_checked_as_far_as_it_is_no_bundle(site: str) -> None:
    done = run("check", f"{site}/server.html", "--json")
    [report] = json.loads(done.stdout)
    assert (done.returncode, report["dialects"], report["session"]) == (0, ["plain_mcp"], True), done.stderr
    assert {finding["subject"] for finding in report["findings"]} == {"tool add"}  # its arguments are not described


@pytest.mark.extended
def test_a_silent_page_fails_the_check(site: str) -> None:
    done = run("check", f"{site}/silent.html", "--timeout", "3")
    assert done.returncode == 1
    assert "error: handshake" in done.stdout
    assert "no ping of MCP" in done.stdout


@pytest.mark.extended
def test_a_silent_page_is_an_error_of_a_call(site: str) -> None:
    done = run("call", f"{site}/silent.html", "add", "--timeout", "3")
    assert done.returncode == 1
    assert "no ping of MCP" in done.stderr


async def test_the_hub_offers_one_that_a_page_of_its_own_frames(site: str, tmp_path: Path) -> None:
    page = site.replace("127.0.0.1", "page.localhost")
    async with (
        http_hub(f"{page}/around.html", "--site", page, "--headless", "--profile", str(tmp_path)) as hub,
        Client(hub.address, cache=None) as client,
    ):
        tool = "website_tool_page_localhost_tab1_add"
        await has(client, tool)
        with anyio.fail_after(PATIENCE):
            assert text(await client.call_tool(tool, ADD["arguments"])) == "3"
