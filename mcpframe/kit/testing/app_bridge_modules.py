"""The official `AppBridge` of npm, for the page that hosts a view under test: the packages' own modules.

`static/testing/app-bridge.json` has the packages with their hashes, and the import map by which the modules find each
other. They are fetched on first use, and stay in the cache.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, new_folder
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.npm import npm_archive
from mcpframe.kit.base.progress import Progress, silent

_PINS = "testing/app-bridge.json"
_DOWNLOADS = 4  # at the same time
HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=31536000, immutable"}
"""The headers of the modules, which pages of any origin import."""


def app_bridge_modules(progress: Progress = silent) -> Path:
    """Return the folder with the packages, `NAME/…` each, in the cache.

    Args:
        progress: Called with a description of a download.

    Raises:
        DownloadError: A package could not be fetched.
        HashMismatch: A package is not the pinned one.
        NodeMissing: There is no npm client to fetch it with.
        WriteError: The cache cannot be written.
    """
    pins = static_dir() / _PINS
    data = pins.read_bytes()
    target = cache_dir() / "testing" / f"app-bridge-{hashlib.sha256(data).hexdigest()[:16]}"
    with locked(target):
        if not target.is_dir():
            with progress("Fetching AppBridge from npm"), new_folder(target) as folder:
                _unpack(json.loads(data)["packages"], folder, pins)
    return target


def import_map(origin: str) -> dict[str, str]:
    """Return the addresses of the modules by their import names.

    Args:
        origin: The origin at which `app_bridge_modules` is served.
    """
    imports = json.loads((static_dir() / _PINS).read_text("utf-8"))["imports"]
    return {name: f"{origin}/{path}" for name, path in imports.items()}


def _unpack(packages: dict[str, dict[str, str]], folder: Path, pins: Path) -> None:
    def fetch(name: str) -> Path:
        return npm_archive(name, packages[name]["version"], packages[name]["integrity"], str(pins))

    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        archives = dict(zip(packages, pool.map(fetch, packages), strict=True))
    for name, archive in archives.items():
        with tarfile.open(archive) as tar:
            for member in tar:
                path = folder / name / member.name.partition("/")[2]  # below the archive's one folder
                content = tar.extractfile(member)
                is_kept = path.suffix in (".js", ".mjs") or path.stem.upper().startswith("LICEN")
                if content is not None and is_kept and ".." not in path.parts:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read())
