"""Bundle the official `AppBridge` of npm into one script for the tests of authors; it is in the repository.

Its licences are collected in the file beside it, as it is part of the wheel.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.testing.app_bridge_script import LICENCES, NAME, SCRIPT
from mcpframe.kit.web.host_page import bundle_module

_ENTRY = 'export { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";\n'
_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/")


def write_app_bridge(modules: Path) -> Path:
    """Bundle the script, and write it and its licences.

    Args:
        modules: A `node_modules` folder with esbuild and ext-apps, as `node.install_locked` creates it.

    Returns:
        The written script.

    Raises:
        KitError: esbuild is missing or fails.
    """
    script, licences = bundled_app_bridge(modules)
    target = static_dir() / SCRIPT
    target.parent.mkdir(exist_ok=True)
    target.write_text(script, "utf-8", newline="\n")
    (static_dir() / LICENCES).write_text(licences, "utf-8", newline="\n")
    return target


def bundled_app_bridge(modules: Path) -> tuple[str, str]:
    """Return the texts of the script and of its licences, as `write_app_bridge` writes them."""
    with scratch("bundling") as folder:
        entry, made, record = (folder / name for name in ("entry.js", "made.js", "inputs.json"))
        entry.write_text(_ENTRY, "utf-8")
        bundle_module(str(entry), made, modules, record=record, name=NAME)
        inputs = json.loads(record.read_text("utf-8"))["inputs"]
        text = made.read_text("utf-8")
    packages = sorted({found[1] for path in inputs if (found := _PACKAGE.search(path))})
    versions = {name: _version(modules / name) for name in packages}
    return f"// {json.dumps(versions)}\n{text}", _licences(modules, versions)


def _version(package: Path) -> str:
    return str(json.loads((package / "package.json").read_text("utf-8"))["version"])


def _licences(modules: Path, versions: dict[str, str]) -> str:
    """Return every licence once, below the packages that have it."""
    texts: dict[str, list[str]] = {}
    for name, version in versions.items():
        [path] = (path for path in (modules / name).iterdir() if path.stem.upper() in ("LICENSE", "LICENCE"))
        text = "\n".join(line.rstrip() for line in path.read_text("utf-8").strip().splitlines())
        texts.setdefault(text, []).append(f"{name} {version}")
    return "\n".join(f"{', '.join(names)}\n\n{text}\n\n{'-' * 80}\n" for text, names in texts.items())
