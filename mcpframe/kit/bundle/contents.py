"""Create the files of a bundle from its layers: archives, scripts, the page, the lazy wheels, and the manifest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.frame.core.dialect import SETUP
from mcpframe.frame.core.origins import OriginEntries
from mcpframe.frame.dialects.available import dialects, view_dialects
from mcpframe.kit.base.data import page_dir, static_dir
from mcpframe.kit.base.progress import count
from mcpframe.kit.bundle.author_files import style_paths
from mcpframe.kit.bundle.inbox import inbox_data
from mcpframe.kit.bundle.offered import embedders, lists_of, offered, ways
from mcpframe.kit.bundle.output.assets import Asset, asset, content_hash, hashed
from mcpframe.kit.bundle.output.write import SHARED
from mcpframe.kit.bundle.packages.deferred_modules import needs_deferred
from mcpframe.kit.bundle.packages.layers import (
    LIBRARY,
    SERVER_PATH,
    STDLIB_PATH,
    STDLIB_ZIP,
    Layer,
    Layers,
    base_packages,
    root_names,
)
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.native import linked
from mcpframe.kit.bundle.packages.optional_native import is_foreign, pure_wheel
from mcpframe.kit.bundle.page.csp import header_policy, page_policy
from mcpframe.kit.bundle.page.index_page import link, prefetch_script, relative_url, render_page
from mcpframe.kit.bundle.page.scripts import inbox_script, loader_script
from mcpframe.kit.bundle.page.view_files import starter, view_files
from mcpframe.kit.bundle.patches import SCRIPT, Patched, patch_script
from mcpframe.kit.bundle.pyodide.archive import Files, pack
from mcpframe.kit.bundle.pyodide.plain_script import GLOBALS, plain_script
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import ABI, PLATFORM, PYTHON_VERSION, VERSION
from mcpframe.kit.bundle.server_import import Inspected
from mcpframe.kit.bundle.snapshot.boot import AUTHOR
from mcpframe.kit.bundle.snapshot.memory import DECODER
from mcpframe.kit.bundle.snapshot.snapshot import Snapshot
from mcpframe.kit.project.project import Project
from mcpframe.kit.project.pyproject import McpframeConfig

SANDBOX = static_dir() / "app" / "sandbox.html"
"""The page between a host and a view: see `mcpframe.frame.hosting.mcp_apps.host`."""
_MANIFEST_FORMAT = 1
_LICENCES = b"""\
The licences of the packages in this folder, as distributed with them.
"""
_CHANGED = b"""\
mcpframe has changed pyodide.mjs and pyodide.asm.mjs of Pyodide (Mozilla Public License 2.0): see
mcpframe/kit/bundle/pyodide/plain_script.py and mcpframe/kit/bundle/patches.
"""


@dataclass(frozen=True)
class Scripts:
    """The scripts that every bundle has: see `runtime_scripts`."""

    pyodide: Asset
    asm: Asset
    wasm: Asset
    loader: Asset
    style: Asset
    patched: Patched

    @property
    def all(self) -> list[Asset]:
        return [self.pyodide, self.asm, self.wasm, self.loader, self.style]


@dataclass(frozen=True)
class Parts:
    """The results of a build's steps, from which a bundle is assembled.

    Attributes:
        lock: The locked wheels.
        wheels: Their files, by package.
        layers: The archives that the page unpacks.
        inspected: The description of the server.
        origins: The origins that may embed it.
        scripts: The runtime and the loader.
        page_files: The author's files for the page, by path.
        first_paint: The author's HTML that a view shows until it has drawn.
    """

    project: Project
    lock: Lock
    wheels: Mapping[str, Path]
    layers: Layers
    inspected: Inspected
    origins: OriginEntries
    scripts: Scripts
    page_files: Mapping[str, bytes]
    first_paint: str


def assemble(parts: Parts, snapshot: Snapshot | None = None) -> tuple[list[Asset], Callable[[], dict[str, Any]]]:
    """Return every file of a bundle but its manifest, and a function that returns the content of the manifest.

    The function compresses the files, for their sizes.

    Args:
        snapshot: The snapshot that the page starts from, if any.
    """
    project, layers, inspected, origins = parts.project, parts.layers, parts.inspected, parts.origins
    name, config = project.name, project.config
    scripts = parts.scripts
    libraries = [*_linked(layers.shared, None), *_linked(layers.author, inspected.modules or None)]
    archives = {
        layer.name: hashed(
            f"{name if layer.name == 'server' else SHARED}/{layer.name}.zip",
            pack(_emptied(layer.files, {path for owner, _, path in libraries if owner is layer})),
        )
        for layer in layers.archives
    }
    native = [
        hashed(f"{SHARED}/{path.rpartition('/')[2].partition('.')[0]}.wasm", layer.files[path])
        for layer, _, path in libraries
    ]
    deferred = hashed(f"{SHARED}/deferred.zip", pack(layers.deferred))
    at_start = not config.inspect or needs_deferred(inspected.modules, layers.deferred)
    image, header = _snapshot(snapshot, name, layers, inspected, len(libraries))
    decoder = hashed(f"{SHARED}/{DECODER}", (page_dir() / DECODER).read_bytes())
    licences = hashed(f"{SHARED}/licences.txt", _licence_text(layers))
    lazy_files, lazy = _lazy(project, parts.lock, parts.wheels)
    title = config.title or inspected.title or inspected.name
    folder, author_assets = _author_assets(name, parts.page_files)
    styles = [author_assets[path] for path in style_paths(project)]
    about = {"name": name, "version": inspected.version or "0", "title": title}
    opaque = config.options.allow_opaque
    lists = lists_of(config.dialects, origins, opaque=opaque)
    offers = offered(config.dialects, lists) if config.kind == "server" else list(config.dialects)
    inbox = inbox_data(inspected, config, about, lists) if config.kind == "server" else None
    inline = [*([inbox_script()] if inbox else []), *([prefetch_script()] if image else [])]
    in_worker = config.runs_in == "worker"
    policy = page_policy(
        config.csp,
        url=config.url,
        frames=config.kind == "page",
        inline=inline,
        sandbox=config.sandbox_origin,
        worker=in_worker or project.processes,
    )
    sandbox = hashed(f"{SHARED}/sandbox.html", SANDBOX.read_bytes()) if config.sandbox_origin else None
    usual = "optional" if inspected.draws else "hidden"
    visibility = {**config.visibility.model_dump(), "requirement": config.visibility.requirement or usual}
    own = {dialect: list(entries) for dialect, entries in origins.own.items()}
    own_origins = {"dialect_origins": own} if own else {}
    boot = {
        "entry": project.entry,
        "kind": config.kind,
        "name": name,
        "title": title,
        "about": about,
        "allowed_origins": list(origins.common),
        **own_origins,
        **({"dialects": offers} if offers else {}),
        **({"ways": ways(offers)} if offers and config.kind == "server" else {}),
        "visibility": visibility,
        "options": config.options.model_dump(exclude_none=True),
        "boot_timeout": config.boot_timeout,
        **(_worker(config) if in_worker else {}),
        **({"size": config.app.size} if config.app.size else {}),
        "lazy": lazy,
        "assets": {"base": f"{folder}/", "files": sorted(author_assets)},
        **{key: value for key, value in project.settings.items() if value},
        **({"persist": list(config.persist)} if config.persist else {}),
        **({"visitor_env": list(config.visitor_env)} if config.visitor_env else {}),
        "version": f"mcpframe {version('mcpframe')}",
        "files": {
            "pyodide": link(scripts.pyodide, name),
            "asm": link(scripts.asm, name),
            "loader": link(scripts.loader, name),  # for workers
            "wasm": link(scripts.wasm, name),
            "archives": [
                {**link(archives[layer.name], name), "to": layer.to, "own": layer.own, "apart": layer.apart}
                for layer in layers.archives
            ],
            "libraries": [
                {**link(item, name), "path": f"{layer.to}/{path}", "own": layer.own, "neededAs": needed_as or None}
                for item, (layer, needed_as, path) in zip(native, libraries, strict=True)
            ],
            "paths": layers.paths,
            "snapshot": image and {**link(image, name), "decoder": link(decoder, name), **header},
            "deferred": {**link(deferred, name), "to": LIBRARY, "atStart": at_start},
            "env": {"PYTHONPATH": STDLIB_PATH},
            "server_path": SERVER_PATH,
            "stdlib_zip": STDLIB_ZIP,
            "lock": {
                "info": {
                    "abi_version": ABI,
                    "arch": "wasm32",
                    "platform": PLATFORM,
                    "python": PYTHON_VERSION,
                    "version": VERSION,
                },
                "packages": {},
            },
        },
    }
    plain = [*archives.values(), *([deferred] if at_start else [])]
    in_background = [*(archives[layer.name] for layer in layers.archives if not layer.apart), *plain[len(archives) :]]
    needed = {"none": [], "own": [archives[layer.name] for layer in layers.author], "all": plain}
    starting = [image, decoder, *needed[header["files"]]] if image else plain
    # With a snapshot, the page decides how it starts: its prefetch script and its loader request the rest.
    preloads = [decoder] if image else [scripts.wasm, *native, *plain]
    run = [scripts.pyodide, scripts.asm]
    if in_worker:  # its page fetches what the worker runs
        run, preloads = [], [*run, *preloads]
    page: dict[str, Any] = {
        "title": title,
        "generator": f"mcpframe {version('mcpframe')}",
        "boot": boot,
        "styles": [link(item, name) for item in (scripts.style, *styles)],
        "loader": link(scripts.loader, name),
        "scripts": [link(item, name) for item in run],
        "preloads": [link(item, name) for item in preloads],
        "prefetch": image is not None,
        "inbox": inbox,
        "worker": in_worker,
    }
    proxy = {**link(sandbox, name), "origin": config.sandbox_origin} if sandbox else None
    index = asset(f"{name}/index.html", render_page(**page, csp=policy, sandbox=proxy))
    views: list[Asset] = []
    app = None
    if config.kind == "server" and any(lists.of(each) is not None for each in view_dialects()):
        views = [starter(name)]
        if config.url:
            texts, app = view_files(config.url, name, config.csp, config.app, parts.first_paint)
            views += texts
    first_visit = [*scripts.all, *native, *styles, *starting, index]
    others = (*plain, deferred, *author_assets.values(), *([sandbox] if sandbox else []))
    later = [item for item in others if item not in first_visit]
    assets = [*first_visit, *dict.fromkeys(later), *views, licences, *lazy_files]

    def manifest() -> dict[str, Any]:
        for done, item in enumerate(assets, 1):
            _ = item.packed  # kept; large files take long
            count(done, len(assets))
        return {
            "mcpframe_manifest": _MANIFEST_FORMAT,
            "kind": config.kind,
            "name": name,
            "server": {"name": inspected.name, "title": inspected.title, "version": inspected.version},
            "title": title,
            "instructions": inspected.instructions,
            "entry": project.entry,
            "tools": None if inspected.tools is None else list(inspected.tools),
            "allowed_origins": list(origins.common),
            **own_origins,
            "dialects": offers,
            "app": app,
            "visibility": visibility,
            "draws": inspected.draws,
            "csp": header_policy(policy, embedders(config.dialects, origins), opaque=opaque),
            "versions": {
                "mcpframe": version("mcpframe"),
                "pyodide": VERSION,
                "python": PYTHON_VERSION,
                "packages": {package.name: package.version for package in parts.lock.packages},
            },
            "patches": {"applied": list(scripts.patched.applied), "notes": list(scripts.patched.notes)},
            "lazy": sorted(lazy),
            "sizes": {
                "total": sum(len(item.data) for item in assets),
                "first_visit": sum(item.wire_bytes for item in first_visit),
                "after_start": sum(item.wire_bytes for item in in_background if item not in first_visit),
                "plain_start": sum(item.wire_bytes for item in (*scripts.all, *native, *styles, *plain, index)),
            },
            "snapshot": snapshot and {"layer": snapshot.layer, "made_with": snapshot.made_with},
            "files": [
                {
                    "path": item.path,
                    "bytes": len(item.data),
                    "gzip_bytes": None if item.packed is None else len(item.packed),
                    "sha256": item.sha256,
                }
                for item in sorted(assets, key=lambda item: item.path)
            ],
        }

    return assets, manifest


def _worker(config: McpframeConfig) -> dict[str, Any]:
    """Return the part of the boot config for a server that runs in a worker."""
    given = config.tool_timeout
    limits = given if isinstance(given, dict) else {"*": given}
    settings: dict[str, Any] = {"runs_in": config.runs_in, "tool_timeout": limits, "grace": config.tool_grace}
    if config.runs_in == "worker":  # for the loader
        settings["setup_hash"] = "|".join(each.fragments[SETUP] for each in dialects() if SETUP in each.fragments)
    return {name: value for name, value in settings.items() if value}


def _linked(layers: Sequence[Layer], modules: Collection[str] | None) -> list[tuple[Layer, str, str]]:
    """Return the libraries to link, in order: the layer of each, the name that others need it by, and its path.

    Args:
        modules: The modules that the server imports when it starts; None for all.
    """
    places = {
        f"{layer.name}/{path}" if layer.apart else path: (layer, path) for layer in layers for path in layer.libraries
    }
    files = {name: layer.files[path] for name, (layer, path) in places.items()}
    return [(places[name][0], needed_as, places[name][1]) for needed_as, name in linked(files, modules)]


def _emptied(files: Files, linked_paths: Collection[str]) -> Files:
    """Return the files with linked libraries emptied: those are linked before there is a file system."""
    return {path: b"" if path in linked_paths else data for path, data in files.items()}


def _snapshot(
    snapshot: Snapshot | None, name: str, layers: Layers, inspected: Inspected, libraries: int
) -> tuple[Asset | None, dict[str, Any]]:
    """Return the file of a snapshot, and its entry in the boot config."""
    if snapshot is None:
        return None, {}
    own = snapshot.layer == AUTHOR
    missing = set(inspected.modules) - set(snapshot.modules)
    unknown = needs_deferred(missing, {**layers.deferred, **_shared(layers)})
    header = {
        "layer": snapshot.layer,
        "unpacked": snapshot.unpacked,
        "build": snapshot.build,
        "references": dict(snapshot.references),
        # Libraries that the snapshot has in memory; the others are linked once Python runs.
        "libraries": libraries if own else len([path for layer in layers.shared for path in layer.libraries]),
        "files": "none" if own else "all" if unknown else "own",
        "paths": [] if own else layers.paths,
    }
    return hashed(f"{name if own else SHARED}/snapshot.bin", snapshot.data), header


def _shared(layers: Layers) -> dict[str, bytes]:
    """Return the files of the archives that all bundles share, by path below `LIBRARY`."""
    return {
        f"{layer.to.removeprefix(f'{LIBRARY}/')}/{path}": data
        for layer in layers.shared
        for path, data in layer.files.items()
    }


def _author_assets(name: str, files: Mapping[str, bytes]) -> tuple[str, dict[str, Asset]]:
    """Return the author's files for the page, in a folder with a hash in its name, so that relative references work.

    Returns:
        The folder, relative to the page, and the files by path in it.
    """
    folder = f"assets-{content_hash(*(part for path, data in files.items() for part in (path.encode(), data)))}"
    return folder, {path: asset(f"{name}/{folder}/{path}", data) for path, data in files.items()}


def runtime_scripts(runtime: Runtime) -> Scripts:
    """Return the files of the runtime, with Pyodide's script patched, and the loader."""
    data = {item: (runtime.folder / item).read_bytes() for item in ("pyodide.mjs", SCRIPT, "pyodide.asm.wasm")}
    patched = patch_script(data[SCRIPT])
    data[SCRIPT] = patched.script
    data.update({item: plain_script(item, data[item]) for item in GLOBALS})
    folder = f"{SHARED}/pyodide-{VERSION}-{content_hash(*data.values())}"
    return Scripts(
        pyodide=asset(f"{folder}/pyodide.mjs", data["pyodide.mjs"]),
        asm=asset(f"{folder}/{SCRIPT}", data[SCRIPT]),
        wasm=asset(f"{folder}/pyodide.asm.wasm", data["pyodide.asm.wasm"]),
        loader=hashed(f"{SHARED}/loader.js", loader_script()),
        style=hashed(f"{SHARED}/frame.css", (page_dir() / "frame.css").read_bytes()),
        patched=patched,
    )


def _lazy(
    project: Project, lock: Lock, wheels: Mapping[str, Path]
) -> tuple[list[Asset], dict[str, list[dict[str, str]]]]:
    """Return the wheels of lazy requirements, and for each requirement the wheels that the page lacks at its start."""
    there = base_packages(lock) | {package.name for package in lock.closure(root_names(project.requirements))}
    assets: dict[str, Asset] = {}
    lazy: dict[str, list[dict[str, str]]] = {}
    for item in project.lazy:
        root = canonicalize_name(Requirement(item).name)
        needed = [package for package in lock.closure([root]) if package.name not in there]
        for package in needed:
            # micropip reads the file's name, so the hash for caching is in the folder's name.
            wheel = wheels[package.name]
            name, data = pure_wheel(wheel) if is_foreign(wheel.name) else (wheel.name, wheel.read_bytes())
            assets[package.name] = asset(f"{project.name}/packages/{package.sha256[:16]}/{name}", data)
        found = [assets[package.name] for package in needed]
        lazy[root] = [{"url": relative_url(item, project.name), "sha256": item.sha256} for item in found]
    return [assets[key] for key in sorted(assets)], lazy


def _licence_text(layers: Layers) -> bytes:
    parts = [_LICENCES, _CHANGED]
    decoder = {"zstddec/LICENSE": (page_dir() / "zstd.licence.txt").read_bytes()}
    for path, text in sorted({**layers.licences, **decoder}.items()):
        parts.append(f"\n{'=' * 20} {path}\n\n".encode() + text.rstrip() + b"\n")
    return b"".join(parts)
