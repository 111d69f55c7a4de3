"""The boot config of a page that runs a step of the build: that of the published page, with changes for the build."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.bundle.assembly.index_page import BOOT, INBOX
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, PARTS, SERVER, Snapshot, snapshot_entry

PATIENCE = 120.0
"""Seconds for one page, without those for importing the server's modules."""
SILENCE = 30.0
"""Seconds for the code of one module of the server, until it imports another."""
IMPORTING = 600.0
"""Seconds for all modules of the server."""
_HOST = "https://host.example"

_Config = dict[str, Any]


def with_boot(index: bytes, change: Callable[[_Config], _Config]) -> bytes:
    """Return a page with its boot config changed by a function."""
    return _with_data(BOOT, index, change)


def neutral(index: bytes) -> bytes:
    """Return a page with a placeholder in place of its allowed origins.

    Memory does not depend on them, as the page has not read them when the snapshot is taken. So one snapshot fits all
    origins, and contains none.
    """
    return _with_data(INBOX, with_boot(index, _neutral_boot), _neutral_inbox)


def _with_data(data: re.Pattern[bytes], index: bytes, change: Callable[[_Config], _Config]) -> bytes:
    def changed_match(found: re.Match[bytes]) -> bytes:
        text = json.dumps(change(json.loads(found[2]))).replace("<", "\\u003c")
        return found[1] + text.encode() + found[3]

    return data.sub(changed_match, index)


def _neutral_boot(config: _Config) -> _Config:
    config["allowed_origins"] = _named(config["allowed_origins"])
    if "dialect_origins" in config:
        config["dialect_origins"] = {name: _named(entries) for name, entries in config["dialect_origins"].items()}
    return config


def _neutral_inbox(data: _Config) -> _Config:
    for phase in data["phases"]:
        phase["hosts"] = _named(phase["hosts"])
        if "standIn" in phase:
            phase["standIn"]["hosts"] = _named(phase["standIn"]["hosts"])
    return data


def _named(entries: list[str]) -> list[str]:
    return [_HOST] if entries else []


def changed(
    config: _Config,
    files: Mapping[str, Any],
    *,
    layer: str,
    snapshot: Snapshot | None = None,
    links: Sequence[Mapping[str, Any]] = (),
    decoder: Mapping[str, Any] | None = None,
    complete: bool = False,
) -> _Config:
    """Return a boot config with the build's script, and only those files that the memory of a layer depends on.

    Args:
        files: The entries of further files.
        layer: The layer: `SDK`, `PARTS`, `PACKAGES`, or `SERVER` for all files.
        snapshot: The snapshot that the page can restore; None for none.
        links: The entries of its files.
        decoder: The entry of its decoder.
        complete: Whether a restored page fetches all files at its start, for a layer above.
    """
    config["boot_timeout"] = 2 * PATIENCE  # a busy machine should get a snapshot, too
    page_config = config["files"]
    page_config.update(files)
    shared = [item for item in page_config["libraries"] if item["path"].startswith("/lib/")]
    if layer == PACKAGES:
        page_config["archives"] = [
            item for item in page_config["archives"] if not item["own"] or item["to"] != page_config["server_path"]
        ]
    elif layer != SERVER:
        there = (item for item in page_config["archives"] if not item["own"])
        page_config["archives"] = [item for item in there if layer == PARTS or not item["part"]]
        page_config["libraries"] = shared
        page_config["paths"] = []
    page_config["snapshot"] = snapshot and snapshot_entry(
        snapshot,
        links,
        decoder=decoder or {},
        shared=len(shared),
        libraries=len(page_config["libraries"]),
        paths=page_config["paths"],
        files="all" if complete else "own",
    )
    return config


def file_entry(url: str, data: bytes) -> dict[str, Any]:
    """Return the entry of a file in the boot config."""
    return {"url": url, "integrity": integrity(data), "bytes": len(data)}
