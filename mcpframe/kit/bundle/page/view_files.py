"""The view of a bundle as HTML text, for `ui://` resources of MCP Apps, in two forms.

- `app.html` frames the published bundle (`mcpframe.views.bundle_page`).
- `app-inline.html` is the bundle's page itself, with absolute URLs. Its host has to allow WebAssembly.

Both contain the bundle's public address, so a build writes them only if it is configured.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from mcpframe.kit.bundle.output.assets import Asset, asset
from mcpframe.kit.bundle.page.index_page import render_page
from mcpframe.kit.project.pyproject import AppConfig, CspConfig
from mcpframe.views.bundle_page import framing_html, framing_meta, url_origin, view_meta

_THIS_MACHINE = re.compile(r"(.*\.)?localhost|127(\.\d+){3}|::1")
_NOWHERE = re.compile(r"(.*\.)?(example|invalid|example\.(com|net|org))")
"""Names reserved for examples, which cannot be registered (RFC 2606)."""

FRAMING = "app.html"
INLINE = "app-inline.html"


def view_files(
    url: str, folder: str, csp: CspConfig, app: AppConfig, policy: str, page: Mapping[str, Any]
) -> tuple[list[Asset], dict[str, Any]]:
    """Return the two files, and their entry in the manifest.

    Args:
        url: The public address of the bundle's page.
        folder: The bundle's folder.
        csp: The page's allowed sources.
        app: The requests of its views to their host.
        policy: The page's policy.
        page: The arguments of `render_page` for the page, except its policy.
    """
    common: dict[str, Any] = {"prefers_border": app.prefers_border, "permissions": app.permissions}
    files = [
        asset(f"{folder}/{FRAMING}", framing_html(url).encode()),
        asset(f"{folder}/{INLINE}", _inline_page(url, policy, page)),
    ]
    entry = {
        "url": url,
        "framing": {"file": FRAMING, "_meta": framing_meta(url, **common)},
        "inline": {"file": INLINE, "_meta": view_meta(inline_csp(url, csp), **common)},
    }
    return files, entry


def unreachable_views(views: Mapping[str, str]) -> list[str]:
    """Return a warning for each view whose page is unreachable for other machines, or for all.

    Args:
        views: The addresses of the pages in a server's views, by the views' URIs.
    """
    found = []
    for uri, url in views.items():
        host = urlsplit(url).hostname or ""
        who = "only hosts on this machine" if _THIS_MACHINE.fullmatch(host) else "no host"
        if who == "no host" and not _NOWHERE.fullmatch(host):
            continue
        found.append(
            f"The view {uri} is at {url}, where {who} can show it: set its address in View(...) to the one at "
            "which this bundle will be."
        )
    return found


def inline_csp(url: str, csp: CspConfig) -> dict[str, Any]:
    """Return `_meta.ui.csp` of the inline form.

    The specification has no member for WebAssembly. `wasmUnsafeEval` is that of ext-apps' own host.
    """
    origin = url_origin(url)
    resources = [*csp.img_src, *csp.media_src, *csp.font_src, *csp.style_src]
    found: dict[str, Any] = {
        "connectDomains": _domains(origin, csp.connect_src),
        "resourceDomains": _domains(origin, resources),
        "wasmUnsafeEval": True,
    }
    if frames := _domains(None, csp.frame_src):
        found["frameDomains"] = frames
    return found


def _domains(own: str | None, sources: Iterable[str]) -> list[str]:
    """Return the sources that `_meta.ui` can have, without duplicates, keywords, and schemes alone."""
    named = [source for source in sources if not source.startswith("'") and not source.endswith(":")]
    return list(dict.fromkeys([*([own] if own else []), *named]))


def _inline_page(url: str, policy: str, page: Mapping[str, Any]) -> bytes:
    made = copy.deepcopy(dict(page))
    boot = made["boot"]
    for part in (boot["files"], boot["lazy"], made["styles"], made["loader"], made["modules"], made["preloads"]):
        _make_absolute(part, url)
    boot["assets"]["base"] = urljoin(url, boot["assets"]["base"])
    # 'self' is the sandbox that the host writes the view into
    return render_page(**made, csp=policy.replace("'self'", url_origin(url)))


def _make_absolute(value: Any, url: str) -> None:
    """Replace every relative `url` in boot data by the absolute one."""
    if isinstance(value, dict):
        if isinstance(value.get("url"), str):
            value["url"] = urljoin(url, value["url"])
        for item in value.values():
            _make_absolute(item, url)
    elif isinstance(value, list):
        for item in value:
            _make_absolute(item, url)
