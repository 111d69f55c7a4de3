"""The official packages of every dialect, for a host's page that has them all."""

from __future__ import annotations

from pathlib import Path

from tests.browser import apps_hosts
from tests.browser.conftest import PAGES
from tests.browser.mcpb import bundle_peers
from tests.browser.plain_hosts import bundle_host
from tests.browser.ui_hosts import bundle_ui_client


def bundle_official_peers(site: Path) -> str:
    """Bundle them as modules of the host's site; return the text of those of MCP-B, which other pages run, too."""
    version = apps_hosts.VERSIONS[0]
    apps_hosts.bundle_script(PAGES / "apps_host_page.js", version, site / f"apps_host_{version}.js")
    bundle_ui_client(site)
    for version in ("2.x", "port"):
        bundle_host(site, version)
    return bundle_peers(site)
