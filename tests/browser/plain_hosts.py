"""A host page with the official `Client` and `PostMessageTransport`, of each version that people have."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.conftest import PAGES

VERSIONS = ("2.x", "1.x")
"""Of the SDK."""
_SCRIPT = PAGES / "plain_host_page.js"


def bundle_host(site: Path, version: str) -> None:
    """Bundle the host page's script with a version of the SDK into the folder of the host's site."""
    modules = install_locked(checkout_dir())
    source = _SCRIPT
    if version != "2.x":
        text = source.read_text("utf-8").replace(
            "@modelcontextprotocol/client", "@modelcontextprotocol/sdk/client/index.js"
        )
        source = install_locked(checkout_dir() / "tests" / "npm" / "ext-apps-1.7") / source.name
        write_file(source, text.encode())
    bundle_module(str(source), site / f"plain_host_{version}.js", modules)
