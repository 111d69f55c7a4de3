"""The manifest of a bundle: `manifest.json` in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from mcpframe.kit.bundle.assembly.assemble import Bundle
from mcpframe.kit.bundle.assembly.assets import SHARED, Asset
from mcpframe.kit.bundle.assembly.csp import header_policy
from mcpframe.kit.bundle.assembly.inputs import Inputs
from mcpframe.kit.bundle.assembly.offered import embedders
from mcpframe.kit.bundle.assembly.snapshot_file import Snapshot
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION, VERSION

_FORMAT = 1


def manifest_of(inputs: Inputs, bundle: Bundle, packed: Mapping[str, bytes | None]) -> dict[str, Any]:
    """Return the content of a bundle's manifest.

    Args:
        packed: Its files as gzip, by path; None for files that are sent as they are.
    """
    config, description, boot = inputs.project.config, inputs.description, bundle.boot
    loaded = {item.path: "later" for item in bundle.after_start} | {item.path: "first" for item in bundle.first_visit}

    def sent(files: Iterable[Asset]) -> int:
        return sum(len(packed[item.path] or item.data) for item in files)

    return {
        "mcpframe_manifest": _FORMAT,
        "kind": config.kind,
        "name": inputs.project.name,
        "server": {"name": description.name, "title": description.title, "version": description.version},
        "title": boot["title"],
        "instructions": description.instructions,
        "entry": inputs.project.entry,
        "tools": None if description.tools is None else list(description.tools),
        "answers": list(description.answers),
        **{key: boot[key] for key in ("allowed_origins", "dialect_origins") if key in boot},
        "dialects": boot.get("dialects", []),
        "app": bundle.app,
        **({"installable": bundle.installable} if bundle.installable else {}),
        "visibility": boot["visibility"],
        "draws": description.draws,
        "csp": header_policy(
            bundle.policy, embedders(config.dialects, inputs.origins), opaque=config.options.allow_opaque
        ),
        **({"origin_trials": list(config.origin_trials)} if config.origin_trials else {}),
        "versions": {
            "mcpframe": version("mcpframe"),
            "pyodide": VERSION,
            "python": PYTHON_VERSION,
            "packages": dict(inputs.packages.versions),
        },
        "patches": dict(inputs.scripts.patches),
        "whole": [entry["url"].rpartition("/")[2] for entry in _shared_wasm(boot) if "second" not in entry],
        "lazy": sorted(boot["lazy"]),
        "sizes": {
            "total": sum(len(item.data) for item in bundle.assets),
            "first_visit": sent(bundle.first_visit),
            "own": sent(item for item in bundle.first_visit if not item.path.startswith(f"{SHARED}/")),
            "after_start": sent(bundle.after_start),
            "plain_start": sent(bundle.plain_start),
        },
        "snapshot": _taken(bundle.snapshot),
        "files": [
            {
                "path": item.path,
                "bytes": len(item.data),
                "gzip_bytes": None if (gzip := packed[item.path]) is None else len(gzip),
                "sha256": item.sha256,
                "loaded": loaded.get(item.path),
            }
            for item in sorted(bundle.assets, key=lambda item: item.path)
        ],
    }


def _shared_wasm(boot: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the WebAssembly files that every bundle has."""
    return [boot["files"]["wasm"], *(entry for entry in boot["files"]["libraries"] if not entry["own"])]


def _taken(snapshot: Snapshot | None) -> dict[str, Any] | None:
    if snapshot is None:
        return None
    return {"layers": [layer.name for layer in snapshot.layers], "made_with": snapshot.top.made_with}


def manifest_text(manifest: Mapping[str, Any]) -> bytes:
    """Return the file of a manifest."""
    return json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n"
