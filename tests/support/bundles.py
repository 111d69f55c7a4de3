"""Built folders as `write_bundle` of the kit leaves them, without a build: a page with its data, and a manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcpframe.kit.bundle.assembly.index_page import script_json


def write_bundle(root: Path, name: str, **manifest: Any) -> Path:
    """Write a bundle that allows `allowed_origins`, and return its folder; other arguments go into its manifest."""
    folder = root / name
    folder.mkdir(parents=True)
    described = {"mcpframe_manifest": 1, "kind": "server", "name": name, "title": name.title(), "allowed_origins": []}
    described |= manifest
    described["files"] = [{"path": f"{name}/index.html"}]
    boot = {key: described[key] for key in ("allowed_origins", "dialect_origins", "options") if key in described}
    elements = {"boot": boot, "inbox": {"hosts": described["allowed_origins"]}}
    (folder / "index.html").write_text(
        "<!doctype html>\n"
        + "".join(
            f'<script type="application/json" id="mcpframe-{element}">{script_json(data)}</script>\n'
            for element, data in elements.items()
        )
    )
    (folder / "manifest.json").write_text(json.dumps(described))
    return folder
