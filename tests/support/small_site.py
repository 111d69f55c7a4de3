"""A small built site, with every kind of file that a bundle has."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from mcpframe.kit.static_hosts.known import host_files

POLICY = "default-src 'none'; frame-ancestors 'self' https://chat.example"
FILES = {
    "_mcpframe/loader.0123456789abcdef.js": ("first", True),
    "_mcpframe/base.zip.0123456789abcdef.wasm": ("first", True),
    "_mcpframe/pyodide-1-0123456789abcdef/pyodide.asm.wasm": ("first", True),
    "_mcpframe/deferred.zip.0123456789abcdef.wasm": ("later", True),
    "pi/assets-0123456789abcdef/a picture.svg": (None, False),
    "pi/index.html": ("first", True),
    "pi/server.zip.0123456789abcdef.wasm": ("first", True),
    "pi/snapshot.0123456789abcdef.bin": ("first", False),
}


def write_site(folder: Path) -> None:
    """Write a project, and its site in `dist`."""
    (folder / "server.py").write_text("from mcpframe import FrameServer\nserver = FrameServer('pi')\n")
    (folder / "pyproject.toml").write_text('[project]\nname = "pi"\nversion = "1"\n[tool.mcpframe]\n')
    entries = []
    for path, (loaded, packs) in FILES.items():
        data = path.encode() * 20_000
        file = folder / "dist" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        packed = gzip.compress(data, mtime=0)
        if packs:
            file.with_name(file.name + ".gz").write_bytes(packed)
        digest = hashlib.sha256(data).hexdigest()
        size = len(packed) if packs else None
        entries.append({"path": path, "bytes": len(data), "gzip_bytes": size, "sha256": digest, "loaded": loaded})
    manifest = {
        "mcpframe_manifest": 1,
        "name": "pi",
        "title": 'Pi: "digits" 🥧',
        "csp": POLICY,
        "sizes": {"first_visit": 7_000_000},
        "files": entries,
    }
    (folder / "dist/pi/manifest.json").write_text(json.dumps(manifest))
    for name, data in host_files({"pi": POLICY}).items():
        (folder / "dist" / name).write_bytes(data)
