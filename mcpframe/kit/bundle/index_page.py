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
    """The URL of a file as a page in the folder `folder` of the output root writes it."""
    return posixpath.relpath(asset.path, folder)


def link(asset: Asset, folder: str) -> dict[str, Any]:
    """What the page needs to know of a file: where it is, its hash, its size."""
    return {"url": relative_url(asset, folder), "integrity": asset.integrity, "bytes": len(asset.data)}


def prefetch_script() -> str:
    """The script that is in the page itself, where there is a snapshot."""
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
        generator: What built it.
        boot: The boot config.
        styles: The style sheets, as `link` gives them.
        loader: The script.
        modules: Scripts that the loader imports.
        preloads: Files that the loader fetches.
        prefetch: Whether there is a snapshot, and so the script that begins before all others.
    """
    environment = Environment(
        loader=FileSystemLoader(page_dir()), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    # Inside a script element nothing but these could end it; JSON reads them the same.
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
    """Text that the template inserts as it is."""

    def __html__(self) -> str:
        return self
