"""Build the extension: static files, the hub's page with Python and its snapshot, and the command line's settings.

The page is a bundle like any author's, built once and cached. For an extension it is changed in two ways: no folder has
a name that begins with `_`, and no script is inline (Chrome's documentation, "Content Security Policy").
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcpframe.frame.core.allowed_origins import ANY, parse_allowed_origins
from mcpframe.hub.core import limits
from mcpframe.hub.homes.extension.home import SETTINGS
from mcpframe.kit.base.cache import cache_dir, make_public, new_folder, writing
from mcpframe.kit.base.data import HOST_JSON, PIECES, script_with, static_dir
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bundle.assembly.assets import SHARED
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.hub.extension.identity import EXTENSION_KEY

MANIFEST = "manifest.json"
_PAGE = "hub"
_SHARED = "shared"
"""The name of the bundle's shared folder in the extension."""
_HALVES = {"content.js": ("hub/page.js", PIECES), "document.js": ("hub/document-tools.js",)}
"""Content scripts: for each its script of the hub, and the modules that it uses."""
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def build_extension(
    out: Path,
    *,
    sites: Sequence[str] = (),
    longest_name: int = limits.NAME_CHARACTERS,
    ask: bool = False,
    clients: Sequence[str] = (),
    snapshot: bool | None = None,
    progress: Progress = silent,
) -> Path:
    """Build the extension into a folder that a browser can load.

    Args:
        out: The folder; an earlier extension in it is replaced.
        sites: The origins whose pages' tools are offered; empty for all.
        longest_name: The longest name of a tool.
        ask: The default for asking before each call, until the user chooses; always on without sites.
        clients: The origins of web pages that may be clients; the user decides about other extensions.
        snapshot: As for `build`.
        progress: Reports long steps.

    Returns:
        The folder.

    Raises:
        OriginError: A site, or a client's origin, can never match.
        BuildError: The folder is not an extension.
        KitError: A dependency of the build is missing or fails.
    """
    parse_allowed_origins(sites or [ANY])
    if clients and parse_allowed_origins(clients).anyone:
        raise BuildError("Browsers let only named web pages connect: leave out --allow-origin '*'.")
    out = out.absolute()
    if out.exists() and not (out / MANIFEST).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BuildError(f"{out} exists and is not an extension: move it, or choose another folder.")
    sources = static_dir() / "extension"
    digest = hashlib.sha256(str(sources).encode()).hexdigest()[:16]
    bundles = cache_dir() / "extension" / digest
    files = dict(_own_files(sources, sites, longest_name, ask or not sites, clients))
    bundle = build(sources / _PAGE, bundles, snapshot=snapshot, progress=progress)
    with progress(f"Writing {out}"), locked(bundles):
        for entry in bundle.manifest["files"]:
            files[_renamed(entry["path"])] = (bundles / entry["path"]).read_bytes()
        files |= _page(files.pop(f"{_PAGE}/index.html").decode())
        out.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(out) as folder, writing(out):
            for name, data in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            make_public(folder)
    return out


def _own_files(
    sources: Path, sites: Sequence[str], longest_name: int, ask: bool, clients: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files besides those of the hub's page."""
    for path in sorted(sources.iterdir()):
        if path.is_file() and path.name not in (MANIFEST, *_HALVES):
            yield path.name, path.read_bytes()
    manifest = json.loads((sources / MANIFEST).read_text("utf-8"))
    patterns = sorted({each for site in sites or [ANY] for each in match_patterns(site)})
    manifest["version"] = version("mcpframe")
    manifest["key"] = EXTENSION_KEY
    manifest["host_permissions"] = patterns
    pages = sorted({each for client in clients for each in match_patterns(client)})
    manifest["externally_connectable"] = {"ids": ["*"], "matches": pages}
    for script in manifest["content_scripts"]:
        script["matches"] = patterns
    yield MANIFEST, _json(manifest)
    settings = {
        "sites": list(sites or [ANY]),
        "longest_name": longest_name,
        "version": version("mcpframe"),
        "ask": ask,
        "clients": list(clients),
    }
    yield SETTINGS, _json(settings)
    options = {
        "most": limits.HUB_MESSAGE_BYTES,
        "piece": limits.SCRIPT_PIECE_CHARACTERS,
        "offer": "mcpframe-offer",
        "wanted": "mcpframe-wanted",
    }
    for name, (half, *modules) in _HALVES.items():
        script = script_with(f"extension/{name}", *modules)
        yield name, f"{script}({script_with(half, HOST_JSON)}, {json.dumps(options)});\n".encode()


def match_patterns(site: str) -> list[str]:
    """Return the match patterns of an origin (Chrome's documentation, "Match patterns")."""
    if site == ANY:
        return ["http://*/*", "https://*/*"]
    parts = urlsplit(site)
    return [f"{parts.scheme}://{parts.netloc}/*"]


def _renamed(path: str) -> str:
    return f"{_SHARED}{path.removeprefix(SHARED)}" if path.startswith(f"{SHARED}/") else path


def _page(text: str) -> dict[str, bytes]:
    """Return the hub's page and the scripts that were in it."""
    scripts: dict[str, bytes] = {}

    def moved(match: re.Match[str]) -> str:
        name = f"inline-{len(scripts)}.js"
        scripts[f"{_PAGE}/{name}"] = match[1].encode()
        # The only one is the script of a page with a snapshot.
        return f'<script src="../remember.js"></script>\n<script src="{name}"></script>'

    text = _INLINE.sub(moved, text.replace(f"../{SHARED}/", f"../{_SHARED}/"))
    text = text.replace("<head>", '<head>\n<script src="../ports.js"></script>', 1)
    return {f"{_PAGE}/index.html": text.encode(), **scripts}


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=2).encode() + b"\n"
