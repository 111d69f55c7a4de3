"""The manifest of a bundle that has been built, as it is read: by whoever uses the bundle, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.kit.bundle.assembly.description import ServerDescription

MANIFEST = "manifest.json"
"""Its name in the bundle's folder."""


def origins_of(manifest: Mapping[str, Any]) -> OriginEntries:
    """Return the allowed origins in a bundle's manifest. Manifests of earlier versions have no `dialect_origins`."""
    own = manifest.get("dialect_origins", {})
    return OriginEntries(
        tuple(manifest["allowed_origins"]), {dialect: tuple(entries) for dialect, entries in own.items()}
    )


def policies_of(manifests: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the Content-Security-Policy of each bundle, by folder."""
    return {name: manifest["csp"] for name, manifest in manifests.items()}


def trials_of(manifests: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the tokens of origin trials of the bundles that have some, by folder."""
    return {name: manifest["origin_trials"] for name, manifest in manifests.items() if manifest.get("origin_trials")}


def read_manifests(out: Path) -> dict[str, dict[str, Any]]:
    """Return the manifests of all bundles below an output root, by folder."""
    manifests = {}
    for path in sorted(out.glob(f"*/{MANIFEST}")):
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue  # not a bundle's manifest
        if isinstance(data, dict) and data.get("mcpframe_manifest"):
            manifests[path.parent.name] = data
    return manifests


def described_in(manifest: Mapping[str, Any]) -> ServerDescription:
    """Return the description of the server in a manifest."""
    server, tools = manifest["server"], manifest["tools"]
    return ServerDescription(
        name=server["name"],
        title=server["title"],
        version=server["version"],
        instructions=manifest["instructions"],
        origins=origins_of(manifest),
        tools=None if tools is None else tuple(tools),
        draws=bool(manifest.get("draws")),
        sources=tuple(manifest.get("sources", ())),
        answers=tuple(manifest.get("answers", ())),
    )
