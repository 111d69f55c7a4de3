"""A bundle that offers some dialects only: nothing of the others is posted, heard or written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.async_api import BrowserContext, expect
from typer.testing import CliRunner

from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.bridge.target import open_target
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.cli.main import app
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.bundle_checks.embedding import check_page
from mcpframe.kit.servers.published import fetch, read_manifest
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.bundle.conftest import write_project

SERVER = """
from mcpframe import FrameServer

server = FrameServer("few")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.ui
async def show(session):
    await session.page.show("page.html")
"""
TYPED = """
    addEventListener("message", ({ data, source }) => {
      (globalThis.heard ??= []).push(data.type ?? data.method ?? data.channel);
      globalThis.framed = source;
    });
"""


@pytest.fixture(scope="module")
def few(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """A bundle that offers mcp-ui and WebMCP only."""
    folder = tmp_path_factory.mktemp("few")
    (folder / "page.html").write_text("<p>Drawn</p>")
    table = {name: [origins.host] for name in ("sep", "mcp_ui")}
    settings = 'dialects = ["webmcp", "mcp_ui"]\nassets = ["page.html"]\nurl = "https://tools.example/few/"'
    write_project(folder, settings, SERVER, name="few")
    built = build(folder, folder / "out", allowed_origins=table, snapshot=False)
    (warning,) = (warning for warning in built.warnings if "allowed_origins" in warning)
    assert "tool.mcpframe.dialects leaves 'sep' out" in warning
    with serve_folder(folder / "out") as served:
        yield Bundle(folder / "out", f"http://bundle.localhost:{served.port}", built.url_path)


async def test_only_the_dialects_of_the_setting_are_spoken(
    context: BrowserContext, troubles: Troubles, origins: Origins, few: Bundle
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    await page.evaluate(TYPED)
    await page.evaluate(
        "url => document.body.append(Object.assign(document.createElement('iframe'), { src: url }))", few.url
    )
    await page.wait_for_function("() => globalThis.heard?.length")
    handshake = {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": "s", "protocolVersion": "1.0"}
    check = {"channel": "mcp-iframe", "type": "mcp", "direction": "client-to-server", "payload": "mcp-check-ready"}
    say = "([message, target]) => framed.postMessage(message, target)"
    for foreign in (handshake, check, {"jsonrpc": "2.0", "id": 1, "result": {}}):
        await page.evaluate(say, [foreign, few.origin])
    data = {"type": "ui-lifecycle-iframe-render-data", "payload": {"renderData": {"theme": "dark"}}}
    frame = page.frame_locator("iframe")
    await expect(frame.locator("#mcpframe-status")).to_contain_text("waits", timeout=BOOT_PATIENCE * 1000)
    await page.evaluate(say, [data, few.origin])
    await expect(frame.get_by_text("Drawn")).to_be_visible()
    heard = await page.evaluate("globalThis.heard")
    assert {kind for kind in heard if not kind.startswith("ui-")} == set()

    tab = await context.new_page()
    await tab.add_init_script(TYPED)
    await tab.goto(few.url)
    await tab.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT_PATIENCE * 1000)
    await expect(tab.locator("#mcpframe-about li")).to_have_text([re.compile("^Hosts of mcp-ui ")])
    await expect(tab.locator("#mcpframe-about")).to_contain_text(f"Allowed: {origins.host}.")
    for message in ({**check, "channel": "mcp-default"}, {"type": "over"}):
        await tab.evaluate("message => postMessage(message, origin)", message)
    await tab.wait_for_function("() => globalThis.heard?.includes('over')")
    assert await tab.evaluate("globalThis.heard") == ["mcp", "over"]


async def test_everything_says_which_dialects_are_offered(origins: Origins, few: Bundle) -> None:
    url = few.url.replace("bundle.localhost", "127.0.0.1")  # which Python finds, too
    manifest = read_manifest(url)
    assert manifest is not None
    assert manifest["dialects"] == ["mcp_ui", "webmcp"]
    assert manifest["app"] is None
    assert not (few.folder / few.path / "app.html").exists()
    answer = fetch(url)
    assert answer.headers["content-security-policy"].endswith(f"frame-ancestors 'self' {origins.host}")
    findings = [item for item in check_page(url, answer.headers, manifest) if item.subject != "allowed_origins"]
    assert [(item.severity, item.subject) for item in findings] == [("warning", "allowed_origins.sep")]
    checked = CliRunner().invoke(app, ["check", url])
    assert checked.exit_code == 0
    assert "no session was opened, as that needs sep" in checked.output
    checked = CliRunner().invoke(app, ["check", url, "--dialect", "plain_mcp"])
    assert checked.exit_code == 1
    assert "The bundle does not offer the dialect 'plain_mcp', only mcp_ui, webmcp." in checked.output
    with (
        pytest.raises(NoFramedServer, match="does not offer the dialect 'sep', only mcp_ui, webmcp"),
        open_target(str(few.folder / few.path)),
    ):
        pytest.fail("The bridge took it.")
    with pytest.raises(NoFramedServer, match="does not offer the dialect 'sep'"):
        async with one_session(url):
            pass
    assert json.loads((few.folder / few.path / "manifest.json").read_text()) == manifest
