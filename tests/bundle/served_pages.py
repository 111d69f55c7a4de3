"""Shared parts of the tests of bundles' pages: a Chromium, served folders, and a host page that calls one tool."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect, sync_playwright

from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.web.serve import serve_folder
from tests.support.origins import SHORT_LIVED

PATIENCE = 60_000  # milliseconds

HOST = """
<!doctype html><title>host</title><body><script>
const params = new URLSearchParams(location.search);
const frame = document.createElement("iframe");
frame.title = "server";
if (params.has("sandbox")) frame.setAttribute("sandbox", params.get("sandbox"));
const session = params.get("session") ?? "11111111-2222-3333-4444-555555555555";
let target;
let handshakes = 0;
const say = (payload) => frame.contentWindow.postMessage({ type: "MCP_MESSAGE", payload }, target);
addEventListener("message", ({ source, origin, data }) => {
  if (source !== frame.contentWindow) return;
  if (data.type === "MCP_TRANSPORT_HANDSHAKE") document.body.dataset.handshakes = ++handshakes;
  if (data.type === "MCP_TRANSPORT_HANDSHAKE" && !target) {
    target = origin === "null" ? "*" : origin;
    const reply = { type: "MCP_TRANSPORT_HANDSHAKE_REPLY", sessionId: session, protocolVersion: "1.0" };
    frame.contentWindow.postMessage(reply, target);
  } else if (data.type === "MCP_TRANSPORT_ACCEPTED") {
    const clientInfo = { name: "host", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    say({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  } else if (data.payload?.id === 1) {
    say({ jsonrpc: "2.0", method: "notifications/initialized" });
    const call = { name: params.get("tool"), arguments: JSON.parse(params.get("arguments") ?? "{}") };
    say({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call });
  } else if (data.payload?.id === 2) {
    document.title = JSON.stringify(data.payload.result ?? data.payload.error);
  }
});
frame.src = params.get("frame");
document.body.append(frame);
</script></body>
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        options = launch_options(ensure_chromium())
        options["args"].append(SHORT_LIVED)
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


Serving = Callable[..., str]


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Serves a folder for the rest of the test; gives its origin."""
    with ExitStack() as stack:

        def serve(folder: Path, host: str = "bundle", **headers: str) -> str:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            served = stack.enter_context(serve_folder(folder, headers=names))
            return f"http://{host}.localhost:{served.port}"

        yield serve


@pytest.fixture
def host(tmp_path: Path, serving: Serving) -> str:
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "index.html").write_text(HOST)
    return serving(folder, "host")


def copied(rich: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(rich, tmp_path / "copy"))


def call(
    page: Page,
    host: str,
    frame: str,
    tool: str,
    arguments: str = "{}",
    sandbox: str | None = None,
    session: str | None = None,
) -> str:
    """Let a host page call a tool of the framed page; the answer as JSON."""
    query = f"?frame={frame}&tool={tool}&arguments={arguments}" + (f"&session={session}" if session else "")
    page.goto(host + query + (f"&sandbox={sandbox}" if sandbox else ""))
    expect(page).to_have_title(re.compile(r"^\{"), timeout=PATIENCE)
    return page.title()


def told(page: Page | FrameLocator) -> str:
    """The error that the page shows."""
    title = page.locator("#mcpframe-error-title")
    expect(title).to_be_visible(timeout=PATIENCE)
    return title.inner_text()
