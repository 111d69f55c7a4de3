"""A server in a worker, and functions in processes, in Firefox and in WebKitGTK. Chromium is the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.bundle import build
from mcpframe.kit.web.host_page import copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import SERVERS
from tests.browser.engines import Engine

SESSION = """
const { FrameTransport } = await import("/host.js");
const iframe = document.body.appendChild(document.createElement("iframe"));
const transport = new FrameTransport({ iframe, url: URL, timeout: 120_000 });
const waiting = new Map();
transport.onmessage = (message) => waiting.get(message.id)?.(message);
let last = 0;
const ask = (method, params) => {
  const id = (last += 1);
  const answered = new Promise((resolve) => waiting.set(id, resolve));
  transport.send({ jsonrpc: "2.0", id, method, params });
  return Object.assign(answered, { id });
};
const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
const value = async (name, args) => (await call(name, args)).result.structuredContent.result;
await transport.start();
await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e", version: "1" } });
await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
"""

COMPUTING = """
const found = [await value("where"), await value("keep", { text: "lost" })];
const spinning = call("spin");
const limited = (await call("limited")).error.data.reason;
found.push((await ask("ping", {})).result, limited);
await transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: spinning.id } });
found.push(await value("keep", { text: "new" }));
return found;
"""

POOLED = """
return [await value("places"), await value("squares", { numbers: [3, 1, 2] }), await value("pool", { numbers: [5] })];
"""


@pytest.mark.extended
def test_a_worker_and_processes(engine: Engine, tmp_path: Path) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    (pages / "index.html").write_text("<!doctype html><meta charset=utf-8><title>A host</title><body>")
    copy_host_modules(pages)
    with serve_folder(pages) as page, serve_folder(bundles) as frame:

        def run(server: str, script: str) -> Any:
            path = build(SERVERS / server, bundles, allowed_origins=[page.origin]).url_path
            engine.open(f"{page.origin}/index.html")
            return engine.run(SESSION.replace("URL", f'"{frame.origin}/{path}"') + script)

        assert run("computing", COMPUTING) == ["worker", ["lost"], {}, "timeout", ["new"]]
        assert run("pooled", POOLED) == [["page", "worker"], [9, 1, 4], [25]]
