"""The scripts of a hub's half in a page, as a module for pages that load them themselves; it is in the repository."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.data import static_dir

_SCRIPTS = {"pageHalf": "page.js", "documentTools": "document-tools.js"}
"""What the module exports, and the scripts in `static/hub`, each of which is one function."""


def hub_scripts() -> str:
    """Return the text of `static/host/hub-scripts.js`."""
    parts = [
        "// From static/hub, by `python3 build.py scripts`.",
        'import { textOrReason } from "./host-json.js"; // for the first',
    ]
    for name, script in _SCRIPTS.items():
        text = (static_dir() / "hub" / script).read_text("utf-8")
        _, _, function = text.partition("*/\n")  # its comment is for who changes it
        parts.append(f"export const {name} = {function.strip()}")
    return "\n\n".join(parts) + "\n"


def write_hub_scripts() -> Path:
    """Write the module, and return its path."""
    path = static_dir() / "host" / "hub-scripts.js"
    path.write_text(hub_scripts(), "utf-8", newline="\n")
    return path
