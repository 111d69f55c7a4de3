"""The hosts' pages with npm's `@mcp-ui/client`: `pages/ui_host.html` with the renderer of 6.1.0, its last one of UI
resources, and `pages/app_renderer.html` with that of 7.1.1, for views of MCP Apps.
"""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.npm_scripts import beside


def bundle_ui_client(folder: Path, script: str = "ui_host_page.js", peer: str = "mcp-ui-6.1") -> None:
    """Bundle the script of a host's page into a folder.

    Args:
        folder: where to put it.
        script: its name in `pages`.
        peer: the folder in tests/npm with its packages.
    """
    source = beside(peer, Path(__file__).parent / "pages" / script)
    bundle_module(str(source), folder / script, install_locked(checkout_dir()))
