"""The extension's package for the Chrome Web Store, with the pictures and the texts of its listing.

The store refuses a manifest with a `key`, and asks for one sentence about each permission. Of those that the extension
can do without, its package asks for none until the user wants what needs it.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options

Files = Mapping[str, bytes]

SOURCES = Path(__file__).parent / "store"
PICTURES = {"promo.html": (440, 280), "screenshot.html": (1280, 800)}
"""The pages of the listing's pictures, with the sizes that the store takes, in pixels."""
ICONS = (16, 32, 48, 128)
_PADDING = 16
"""Transparent pixels around the 96 of the largest icon, which the store asks for."""
_OPTIONAL = ("nativeMessaging",)
_LONGEST_NAME, _LONGEST_DESCRIPTION = 75, 132
_PRIVACY = "https://github.com/mcpframe/mcpframe/blob/main/docs/explanation/extension-privacy.md"

PURPOSES = {
    "offscreen": "Runs the hub, which is Python in WebAssembly, in a document without a window.",
    "storage": "Keeps the user's choices: excluded sites, allowed clients, and whether to ask before a call.",
    "scripting": "Puts the relay into pages that were open before the extension was installed or updated.",
    "nativeMessaging": "Connects MCP clients on the user's machine, once the user has asked for it in the popup.",
    "host permissions": "Relays the tools that pages offer, on the sites that the user has not excluded.",
}
"""What each permission is for, in the one sentence that the store asks for."""

_SINGLE_PURPOSE = "It offers the tools of web pages, by MCP-B or WebMCP, to the MCP clients that the user allows."


def store_files(files: Files) -> dict[str, bytes]:
    """Return the files of the store's package, from those of the built extension."""
    manifest = json.loads(files["manifest.json"])
    del manifest["key"]  # the store gives it another
    manifest["permissions"] = [name for name in manifest["permissions"] if name not in _OPTIONAL]
    manifest["optional_permissions"] = list(_OPTIONAL)
    found = {**files, "manifest.json": json.dumps(manifest, indent=2).encode() + b"\n"}
    check_store(found)
    return found


def check_store(files: Files) -> None:
    """Check what the store checks.

    Raises:
        KitError: It would refuse the package.
    """
    manifest = json.loads(files["manifest.json"])
    if problems := list(_problems(manifest, files)):
        raise KitError(f"The Web Store would refuse the extension: {'; '.join(problems)}.")


def _problems(manifest: Mapping[str, Any], files: Files) -> list[str]:
    problems = []
    if "key" in manifest:
        problems.append("its manifest has a key")
    if not re.fullmatch(r"\d{1,5}(\.\d{1,5}){0,3}", manifest.get("version", "")):
        problems.append(f"its version is {manifest.get('version')!r}")
    if not 0 < len(manifest["name"]) <= _LONGEST_NAME or not 0 < len(manifest["description"]) <= _LONGEST_DESCRIPTION:
        problems.append("its name or description is too long")
    for size in ICONS:
        path = manifest.get("icons", {}).get(str(size), "")
        if path not in files or png_size(files[path]) != (size, size):
            problems.append(f"it has no icon of {size} pixels")
    unexplained = {*manifest["permissions"], *manifest.get("optional_permissions", ())} - PURPOSES.keys()
    if unexplained:
        problems.append(f"nothing says what {', '.join(sorted(unexplained))} is for")
    remote = [path for path, data in files.items() if path.endswith(".html") and re.search(rb'src="https?:', data)]
    if remote:
        problems.append(f"{remote[0]} loads code from elsewhere")
    return problems


def png_size(data: bytes) -> tuple[int, int]:
    """Return the width and the height of a PNG; (0, 0) for other data."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        return 0, 0
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def listing_text(manifest: Mapping[str, Any]) -> str:
    """Return the texts that the store's forms ask for."""
    asked = [*manifest["permissions"], *manifest.get("optional_permissions", ()), "host permissions"]
    lines = [f"- {name}: {PURPOSES[name]}" for name in asked]
    return "\n".join(
        [
            f"# {manifest['name']} {manifest['version']}",
            "",
            manifest["description"],
            "",
            f"Single purpose: {_SINGLE_PURPOSE}",
            "",
            "Permissions:",
            "",
            *lines,
            "",
            "Remote code: none. All code is in the package.",
            "",
            "Data: none is collected, sold, or sent to the developer. Tools and results pass from the page to the",
            f"client that the user has allowed. Privacy policy: {_PRIVACY}",
            "",
        ]
    )


def write_listing(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write the listing's texts and pictures into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / "listing.md", listing_text(manifest).encode(), public=True)
    for page, (width, height) in PICTURES.items():
        picture = _pictured(page, width, height)
        write_file(out / f"{Path(page).stem}-{width}x{height}.png", picture, public=True)


def draw_icons() -> None:
    """Draw the icons again: `python -m tests.release.web_store`, after a change of `icon.svg`."""
    svg = (SOURCES / "icon.svg").read_text("utf-8")
    for size in ICONS:
        padding = _PADDING if size == max(ICONS) else 0
        style = f"body{{margin:{padding}px}}svg{{display:block;width:{size - 2 * padding}px}}"
        write_file(
            static_dir() / "extension" / f"icon-{size}.png",
            _screenshot(f"<!doctype html><style>{style}</style>{svg}", size, size),
            public=True,
        )


def _pictured(page: str, width: int, height: int) -> bytes:
    return _screenshot((SOURCES / page).read_text("utf-8"), width, height)


def _screenshot(html: str, width: int, height: int) -> bytes:
    from playwright.sync_api import sync_playwright

    with scratch("picture") as folder, sync_playwright() as playwright:
        shutil.copy(SOURCES / "icon.svg", folder)
        shutil.copy(checkout_dir() / "docs" / "images" / "hub-light.png", folder / "hub.png")
        (folder / "page.html").write_text(html, "utf-8")
        browser = playwright.chromium.launch(**launch_options(ensure_chromium()))
        try:
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto((folder / "page.html").as_uri())
            picture: bytes = tab.screenshot(omit_background=True)
        finally:
            browser.close()
    if png_size(picture) != (width, height):
        raise KitError(f"A picture has {png_size(picture)} pixels instead of {width} by {height}.")
    return picture


if __name__ == "__main__":
    draw_icons()
