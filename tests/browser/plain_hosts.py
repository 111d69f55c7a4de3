"""A host page with the official `Client` and `PostMessageTransport`, of each version that people have."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.conftest import PAGES

VERSIONS = ("2.x", "1.x", "port")
"""Of the SDK; and 1.x over a port, in the way of npm's `mcp-browser-transport`."""
_SCRIPT = PAGES / "plain_host_page.js"
_CLIENT = 'import { Client } from "@modelcontextprotocol/client";'
_EARLIER_CLIENT = """
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
class Client extends EarlierClient {
  callTool(params, options) {
    return super.callTool(params, undefined, options);
  }
}
"""
"""That of 1.x, with the arguments of 2.x."""
_OFFICIAL = 'import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";'
_OVER_A_PORT = """
import { BrowserTransport } from "mcp-browser-transport";
class PostMessageTransport extends BrowserTransport {
  constructor(frame) {
    const channel = new MessageChannel();
    frame.postMessage("init", "*", [channel.port2]);
    super(channel.port1);
  }
}
"""
"""As the package's README has it."""


def bundle_host(site: Path, version: str) -> None:
    """Bundle the host page's script with a version of the SDK into the folder of the host's site."""
    modules = install_locked(checkout_dir())
    source = _SCRIPT
    if version != "2.x":
        text = source.read_text("utf-8").replace(_CLIENT, _EARLIER_CLIENT)
        packages = "plain-mcp" if version == "port" else "ext-apps-1.7"
        if version == "port":
            text = text.replace(_OFFICIAL, _OVER_A_PORT)
        source = install_locked(checkout_dir() / "tests" / "npm" / packages) / source.name
        write_file(source, text.encode())
    bundle_module(str(source), site / f"plain_host_{version}.js", modules)
