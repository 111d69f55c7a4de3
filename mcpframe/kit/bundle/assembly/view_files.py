"""The view of a bundle as HTML text, for `ui://` resources: `app.html` for MCP Apps, `app-inline.html` for other hosts.

Both contain the bundle's public address, so a build writes them only if it is configured. `app-inline.js`, which starts
the bundle's page in a view's own document, is in every server's bundle: a text may be made from the address alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mcpframe.kit.bundle.assembly.assets import Asset, asset
from mcpframe.kit.bundle.assembly.csp import sources_of
from mcpframe.kit.bundle.assembly.page_scripts import inline_script
from mcpframe.kit.project.pyproject import AppConfig, CspConfig
from mcpframe.views.html import Form, view_html, view_meta

FILES: Mapping[Form, str] = {"app": "app.html", "inline": "app-inline.html"}
"""The files of the forms of a view."""
STARTER = "app-inline.js"
"""The script that starts the page in a view's own document; `static/app/view.js` finds it by this name."""

_THIS_MACHINE = re.compile(r"(.*\.)?localhost|127(\.\d+){3}|::1")
_NOWHERE = re.compile(r"(.*\.)?(example|invalid|example\.(com|net|org))")
"""Names reserved for examples, which cannot be registered (RFC 2606)."""


def starter(folder: str) -> Asset:
    """Return the script `STARTER` of a bundle's folder."""
    return asset(f"{folder}/{STARTER}", inline_script())


def view_files(
    url: str, folder: str, csp: CspConfig, app: AppConfig, first_paint: str = ""
) -> tuple[list[Asset], dict[str, Any]]:
    """Return the texts of the view, and their entry in the manifest.

    Args:
        url: The public address of the bundle's page.
        folder: The bundle's folder.
        csp: The page's allowed sources.
        app: The requests of its views to their host.
        first_paint: HTML that is shown until the page has drawn.
    """
    sources = sources_of(csp)
    files = [
        asset(
            f"{folder}/{name}",
            view_html(url, form=form, sources=sources, first_paint=first_paint, height=app.height or 0).encode(),
        )
        for form, name in FILES.items()
    ]
    meta = view_meta(url, sources=sources, prefers_border=app.prefers_border, permissions=app.permissions)
    return files, {"url": url, "files": dict(FILES), "_meta": meta}


def unreachable_views(views: Mapping[str, str]) -> list[str]:
    """Return a warning for each view whose page is unreachable for other machines, or for all.

    Args:
        views: The addresses of the pages in a server's views, by the views' URIs.
    """
    texts = []
    for uri, url in views.items():
        host = urlsplit(url).hostname or ""
        who = "only hosts on this machine" if _THIS_MACHINE.fullmatch(host) else "no host"
        if who == "no host" and not _NOWHERE.fullmatch(host):
            continue
        texts.append(
            f"The view {uri} is at {url}, where {who} can show it: set its address in View(...) to the one at "
            "which this bundle will be."
        )
    return texts
