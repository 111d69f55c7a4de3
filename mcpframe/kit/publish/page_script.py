"""Bundle the modules of a framed page's script into the one file that pages load; it is in the repository."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.data import page_dir, static_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.scripts import BUNDLED, LOADER, with_record
from mcpframe.kit.web.host_page import bundle_module


def write_page_script(modules: Path) -> Path:
    """Bundle the page's script and write the file.

    Args:
        modules: A `node_modules` folder with esbuild, as `node.install_locked` creates it.

    Returns:
        The written file.

    Raises:
        KitError: esbuild is missing or fails.
    """
    target = page_dir() / BUNDLED
    target.parent.mkdir(exist_ok=True)
    target.write_text(bundled_page_script(modules), "utf-8", newline="\n")
    return target


def bundled_page_script(modules: Path) -> str:
    """Return the text of the bundled script, as `write_page_script` writes it."""
    with scratch("bundling") as folder:
        made, record = folder / "loader.js", folder / "inputs.json"
        # Comments are removed, but names are kept, so that error reports have the names of the sources.
        bundle_module(str(static_dir() / LOADER), made, modules, record=record, minify=False)
        inputs = json.loads(record.read_text("utf-8"))["inputs"]
        text = made.read_text("utf-8")
    static = static_dir().resolve()
    sources = [(modules.parent / name).resolve().relative_to(static).as_posix() for name in inputs]
    return with_record(text, sources)
