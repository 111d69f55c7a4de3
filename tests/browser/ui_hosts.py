"""The host's page with the official renderer of npm's `@mcp-ui/client` 6.1.0: `pages/ui_host.html`."""

from __future__ import annotations

import shutil
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module

SCRIPT = "ui_host_page.js"


def bundle_ui_client(folder: Path) -> None:
    """Bundle the script of `ui_host.html` into a folder."""
    # A copy beside its packages, as imports are resolved from the file's own folder.
    own = install_locked(checkout_dir() / "tests" / "npm" / "mcp-ui-6.1")
    source = shutil.copy(Path(__file__).parent / "pages" / SCRIPT, own)
    bundle_module(str(source), folder / SCRIPT, install_locked(checkout_dir()))
