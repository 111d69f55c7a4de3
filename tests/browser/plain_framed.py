"""Framed pages of plain MCP by others: servers and assistants, with each package that people have."""

from __future__ import annotations

import shutil
from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.conftest import PAGES
from tests.browser.npm_scripts import beside

PAGE = '<!doctype html><title>{0}</title><link rel="icon" href="data:,"><script type="module" src="{0}.js"></script>'
_OFFICIAL = 'import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";'
_OVER_WINDOW = "new PostMessageTransport(parent, parent)"
_AT_PORT = """
import { BrowserTransport } from "mcp-browser-transport";
const onPort = (act) =>
  addEventListener("message", (event) => {
    if (event.data === "init" && event.ports[0]) act(new BrowserTransport(event.ports[0]));
  });
"""
"""How a framed page gets its port, as the package's README has it."""
OLDER_SERVERS = {
    "ext-apps": (
        "ext-apps-1.7",
        f"{_OFFICIAL} serve({_OVER_WINDOW});",
    ),
    "ui-kit": (
        "plain-mcp",
        'import { PostMessageMCPTransport } from "@nuwa-ai/ui-kit"; serve(new PostMessageMCPTransport());',
    ),
    "port": ("plain-mcp", f"{_AT_PORT} onPort(serve);"),
}
"""Servers of SDK 1.x, by name: the folder of their packages, and the script with their transport."""
SERVERS = ("server", *OLDER_SERVERS)
"""The names of the servers' pages: that of SDK 2.x is the first."""
ASSISTANTS = ("plain_assistant", "client-2.x", "client-1.x", "client-port")
"""The names of the assistants' pages: the one without a library is the first."""


def write_servers(folder: Path) -> None:
    """Write the page of each of `SERVERS`, which has the tool `add`."""
    bundle_module(str(PAGES / "plain_server_page.js"), folder / "server.js", install_locked(checkout_dir()))
    for name, (packages, script) in OLDER_SERVERS.items():
        common = beside(packages, PAGES / "plain_server_1_page.js")
        entry = common.with_name(f"plain_entry_{name}.js")
        write_file(entry, f'import {{ serve }} from "./{common.name}"; {script}'.encode())
        bundle_module(str(entry), folder / f"{name}.js", install_locked(checkout_dir()))
    _write_pages(folder, SERVERS)


def write_silent(folder: Path) -> None:
    """Write `silent.html`, a page that posts only noise."""
    (folder / "silent.js").write_text("parent.postMessage({ source: 'somebody', type: 'ready' }, '*');")
    _write_pages(folder, ("silent",))


def write_assistants(folder: Path) -> None:
    """Write the page of each of `ASSISTANTS`, whose script has `assistant` once it knows the tools around it."""
    script = PAGES / "plain_client_page.js"
    modules = install_locked(checkout_dir())
    bundle_module(str(script), folder / "client-2.x.js", modules)
    sdk = "@modelcontextprotocol/client", "@modelcontextprotocol/sdk/client/index.js"
    earlier = script.read_text("utf-8").replace(*sdk)
    over_port = earlier.replace(_OFFICIAL, _AT_PORT).replace(_OVER_WINDOW, "await new Promise(onPort)")
    for name, packages, text in ("client-1.x", "ext-apps-1.7", earlier), ("client-port", "plain-mcp", over_port):
        entry = install_locked(checkout_dir() / "tests" / "npm" / packages) / script.name
        write_file(entry, text.encode())
        bundle_module(str(entry), folder / f"{name}.js", modules)
    _write_pages(folder, ASSISTANTS[1:])
    shutil.copy(PAGES / "plain_assistant.html", folder)


def _write_pages(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (folder / f"{name}.html").write_text(PAGE.format(name))
