"""A page that can be installed and works offline, in a tab of its own: its web app manifest, icons, and service worker.

The service worker is the public site's, `static/page/offline.js`, with the names of the bundle's files before it.
"""

from __future__ import annotations

import colorsys
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.assembly.assets import Asset, asset, content_hash
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.bundle.assembly.index_page import link, relative_url
from mcpframe.kit.bundle.assembly.page_scripts import offline_script
from mcpframe.kit.bundle.pyodide.archive import Files

WEB_MANIFEST = "installable.json"
"""The web app manifest. Every web server knows the type of JSON, and few that of `.webmanifest`."""
WORKER = "offline.js"
"""The service worker; `static/page/register.js` finds it by this name."""
FILES = (WEB_MANIFEST, WORKER)
_PNG = b"\x89PNG\r\n\x1a\n"
_LEAST = 192
"""The width of an icon in pixels that browsers ask for (Chromium: 144)."""


@dataclass(frozen=True)
class Icon:
    """An icon of an installed page.

    Attributes:
        file: Its file in the bundle's folder.
        sizes: Its size as a web app manifest has it: `512x512`, or `any`.
        kind: Its media type.
    """

    file: Asset
    sizes: str
    kind: str


def icons_of(folder: str, title: str, files: Files, *, source: str = "") -> list[Icon]:
    """Return the icons of a page.

    Args:
        folder: The bundle's folder.
        title: The page's title, whose first letter is the icon if there is no other.
        files: The author's icons, by path.
        source: The file that names them, for errors.

    Raises:
        ConfigError: One is neither PNG nor SVG, or none is large enough.
    """
    icons = [_icon(folder, number, path, data, source) for number, (path, data) in enumerate(files.items(), 1)]
    widths = [int(each.sizes.partition("x")[0]) for each in icons if each.sizes != "any"]
    if files and len(widths) == len(icons) and max(widths) < _LEAST:
        raise ConfigError(
            f"{source}: tool.mcpframe.icons: the largest has {max(widths)} px, and browsers install a page with an "
            f"icon of {_LEAST} px or more: add one, or an SVG."
        )
    return icons or [Icon(asset(f"{folder}/icon.svg", _letter(title)), "any", "image/svg+xml")]


def _icon(folder: str, number: int, path: str, data: bytes, source: str) -> Icon:
    if data.startswith(_PNG) and data[12:16] == b"IHDR":
        width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
        return Icon(asset(f"{folder}/icon-{number}.png", data), f"{width}x{height}", "image/png")
    if path.lower().endswith(".svg") and b"<svg" in data:
        return Icon(asset(f"{folder}/icon-{number}.svg", data), "any", "image/svg+xml")
    raise ConfigError(f"{source}: tool.mcpframe.icons: {path} is neither a PNG nor an SVG image: convert it to one.")


def _letter(title: str) -> bytes:
    """Return the first letter of a title in white on a colour of its own, as SVG; the edge may be cut off."""
    hue = hashlib.sha256(title.encode()).digest()[0] / 256
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, 0.3, 0.5))
    letter = escape(title.strip()[:1].upper() or "?")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512">'
        f'<rect width="512" height="512" fill="#{red:02x}{green:02x}{blue:02x}"/>'
        '<text x="256" y="256" dy=".36em" font-family="sans-serif" font-size="256" fill="#fff" text-anchor="middle">'
        f"{letter}</text></svg>\n"
    ).encode()


def web_manifest(folder: str, title: str, icons: Iterable[Icon]) -> Asset:
    """Return the web app manifest of a page. Its addresses are relative, so it works below any path."""
    shown = [{"src": relative_url(icon.file, folder), "sizes": icon.sizes, "type": icon.kind} for icon in icons]
    data = {"name": title, "start_url": "index.html", "scope": "./", "display": "standalone", "icons": shown}
    return asset(f"{folder}/{WEB_MANIFEST}", json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n")


def bundle_worker(folder: str, index: Asset, first: Sequence[Asset], others: Iterable[Asset]) -> Asset:
    """Return the service worker of a bundle.

    Args:
        folder: The bundle's folder.
        index: Its page.
        first: The files that it fetches before the page works offline.
        others: The files that it keeps once the page has used them.
    """
    hashed = [item for item in first if item != index]
    # The bundle's manifest names the worker, so the worker cannot name its hash.
    revision = content_hash(*(item.sha256.encode() for item in (index, *hashed)))
    entries = [
        {**_entry(index, folder), "revision": revision},
        {"url": MANIFEST, "revision": revision},
        *(_entry(item, folder) for item in hashed),
    ]
    text = offline_worker(entries, others=sorted(relative_url(item, folder) for item in others))
    return asset(f"{folder}/{WORKER}", text.encode())


def _entry(item: Asset, folder: str) -> dict[str, Any]:
    entry = link(item, folder)
    return {"url": entry["url"], "revision": None, "integrity": entry["integrity"]}


def offline_worker(
    files: Sequence[Mapping[str, Any]], *, others: Sequence[str] | None = None, hashed_name: str = ""
) -> str:
    """Return the text of a service worker.

    Args:
        files: The files that it fetches by itself, as Workbox's precaching has them.
        others: The further files of a bundle; None for the public site, of which it keeps what is visited.
        hashed_name: A pattern of paths of files that never change, for the public site.

    Raises:
        KitError: As for `page_scripts.loader_script`.
    """
    values = {"OWN_FILES": list(files), "OTHER_FILES": others, "HASHED_NAME": hashed_name}
    given = ",".join(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in values.items())
    return f"const {given};\n{offline_script()}"


def worker_licence() -> bytes:
    """Return the licence of the library in the service worker, for the bundle's file of licences."""
    return b"\n==================== workbox/LICENSE\n\n" + (page_dir() / "workbox.licence.txt").read_bytes()
