"""The page of a bundle and its boot config, from a jinja2 template."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assets import Asset


def relative_url(asset: Asset, folder: str) -> str:
    """Return the URL of a file relative to a page in the folder `folder` of the output root."""
    return posixpath.relpath(asset.path, folder)


def link(asset: Asset, folder: str) -> dict[str, Any]:
    """Return the entry of a file in the boot config: its URL, hash and size."""
    return {"url": relative_url(asset, folder), "integrity": asset.integrity, "bytes": len(asset.data)}


def prefetch_script() -> str:
    """Return the inline script of a page with a snapshot."""
    return (page_dir() / "prefetch.js").read_text("utf-8")


def render_page(
    *,
    title: str,
    csp: str,
    generator: str,
    boot: Mapping[str, Any],
    styles: Iterable[Mapping[str, Any]],
    loader: Mapping[str, Any],
    modules: Iterable[Mapping[str, Any]],
    preloads: Iterable[Mapping[str, Any]],
    prefetch: bool,
) -> bytes:
    """Render index.html.

    Args:
        title: The server's name for people.
        csp: The page's policy.
        generator: The name and version of the program that built it.
        boot: The boot config.
        styles: The style sheets, as returned by `link`.
        loader: The loader's script.
        modules: Scripts that the loader imports.
        preloads: Files that the loader fetches.
        prefetch: Whether the page has the inline script, as it has a snapshot.
    """
    environment = Environment(
        loader=FileSystemLoader(page_dir()), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    # Only these characters could end a script element; JSON reads the escapes the same.
    text = json.dumps(boot, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c").replace(">", "\\u003e")
    markup = environment.get_template("index.html.j2").render(
        title=title,
        csp=csp,
        generator=generator,
        boot=_Raw(text.replace("&", "\\u0026")),
        styles=styles,
        loader=loader,
        modules=modules,
        preloads=preloads,
        prefetch=_Raw(prefetch_script()) if prefetch else None,
    )
    return markup.encode()


class _Raw(str):
    """Text that the template inserts without escaping it."""

    def __html__(self) -> str:
        return self
