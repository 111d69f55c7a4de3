"""Assemble the files of a bundle from its inputs.

inputs → archives, author's files, lazy wheels → what it offers to whom → boot config → page, views → bundle → manifest
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from mcpframe.frame.core.allowed_origins import OriginLists
from mcpframe.frame.core.dialect import SETUP
from mcpframe.frame.dialects.available import dialects, view_dialects
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle.assembly.archives import Archives, archives_of, files_config
from mcpframe.kit.bundle.assembly.assets import INSPECTOR, SHARED, Asset, asset, content_hash, hashed
from mcpframe.kit.bundle.assembly.author_files import style_paths
from mcpframe.kit.bundle.assembly.csp import page_policy
from mcpframe.kit.bundle.assembly.inbox import inbox_data
from mcpframe.kit.bundle.assembly.index_page import link, relative_url, render_page
from mcpframe.kit.bundle.assembly.inputs import Inputs
from mcpframe.kit.bundle.assembly.installable import (
    WEB_MANIFEST,
    WORKER,
    Icon,
    bundle_worker,
    icons_of,
    web_manifest,
    worker_licence,
)
from mcpframe.kit.bundle.assembly.offered import lists_of, offered, ways
from mcpframe.kit.bundle.assembly.page_scripts import inbox_script, prefetch_script, register_script
from mcpframe.kit.bundle.assembly.snapshot_file import Snapshot
from mcpframe.kit.bundle.assembly.view_files import starter, view_files
from mcpframe.kit.project.pyproject import McpframeConfig

SANDBOX = static_dir() / "app" / "sandbox.html"
"""The page between a host and a view: see `mcpframe.frame.hosting.mcp_apps.host`."""


@dataclass(frozen=True)
class Bundle:
    """An assembled bundle: its files, except the manifest.

    Attributes:
        assets: All files.
        first_visit: The files that a first visit loads until the page serves.
        after_start: The files that it loads once it serves.
        plain_start: The files that a start without a snapshot loads.
        boot: The boot config of its page.
        policy: The Content Security Policy of its page.
        app: The manifest's entry about its views; None if it has no such files.
        installable: The manifest's entry about a page that can be installed; None for others.
        snapshot: The snapshot that its page starts from, if any.
    """

    assets: Sequence[Asset]
    first_visit: Sequence[Asset]
    after_start: Sequence[Asset]
    plain_start: Sequence[Asset]
    boot: Mapping[str, Any]
    policy: str
    app: Mapping[str, Any] | None
    installable: Mapping[str, Any] | None
    snapshot: Snapshot | None


def assemble(inputs: Inputs, snapshot: Snapshot | None = None) -> Bundle:
    """Assemble a bundle.

    Args:
        snapshot: The snapshot that the page starts from, if any.
    """
    project, config, scripts, layers = inputs.project, inputs.project.config, inputs.scripts, inputs.layers
    archives = archives_of(inputs, snapshot)
    folder, author = author_assets(project.name, inputs.page_files)
    styles = [author[path] for path in style_paths(project)]
    wheels, lazy = _lazy_wheels(inputs)
    lists = lists_of(config.dialects, inputs.origins, opaque=config.options.allow_opaque)
    boot = {
        **_boot_config(inputs, lists),
        "lazy": lazy,
        "assets": {"base": f"{folder}/", "files": sorted(author)},
        "files": files_config(inputs, archives),
    }
    sandbox = hashed(f"{SHARED}/sandbox.html", SANDBOX.read_bytes()) if config.sandbox_origin else None
    icons = icons_of(project.name, boot["title"], inputs.icons, source=str(project.file)) if project.installable else []
    index, policy = _index(inputs, archives, boot, lists, styles, sandbox, icons)
    views, app = _views(inputs, lists)
    starting = archives.starting(layers.author)
    second = [*scripts.wasm.all[1:], *archives.second]
    at_start = [] if snapshot and snapshot.has_server else second
    first_visit = [*scripts.all, *archives.native, *at_start, *styles, *starting, index]
    others = (*second, *archives.plain, archives.deferred, *author.values(), *([sandbox] if sandbox else []))
    later = [item for item in others if item not in first_visit]
    licences = hashed(f"{SHARED}/licences.txt", inputs.licences + (worker_licence() if icons else b""))
    after_start = [item for item in (*archives.in_background(layers.archives), *second) if item not in first_visit]
    offline, installable = _offline(
        inputs,
        index,
        icons,
        first=[*first_visit, *after_start, archives.deferred, *author.values()],
        others=[*later, *wheels],
    )
    return Bundle(
        assets=[*first_visit, *dict.fromkeys(later), *views, licences, *wheels, *offline],
        first_visit=first_visit,
        after_start=after_start,
        plain_start=[*scripts.all, *archives.native, *second, *styles, *archives.plain, index],
        boot=boot,
        policy=policy,
        app=app,
        installable=installable,
        snapshot=snapshot,
    )


def _boot_config(inputs: Inputs, lists: OriginLists) -> dict[str, Any]:
    """Return the boot config without the entries about files."""
    project, config, origins = inputs.project, inputs.project.config, inputs.origins
    about = _about(inputs)
    offers = offered(config.dialects, lists) if config.kind == "server" else list(config.dialects)
    usual = "optional" if inputs.description.draws else "hidden"
    return {
        "entry": project.entry,
        "kind": config.kind,
        "name": project.name,
        "title": about["title"],
        "about": about,
        "allowed_origins": list(origins.common),
        **({"dialect_origins": {name: list(entries) for name, entries in origins.own.items()}} if origins.own else {}),
        **({"dialects": offers} if offers else {}),
        **({"ways": ways(offers)} if offers and config.kind == "server" else {}),
        **({"inspector": f"../{INSPECTOR}/"} if project.beside_inspector else {}),
        "visibility": {**config.visibility.model_dump(), "requirement": config.visibility.requirement or usual},
        "options": config.options.model_dump(exclude_none=True),
        "boot_timeout": config.boot_timeout,
        **(_worker(config) if config.runs_in == "worker" else {}),
        **({"size": config.app.size} if config.app.size else {}),
        **{key: value for key, value in project.settings.items() if value},
        **({"persist": list(config.persist)} if config.persist else {}),
        **({"visitor_env": list(config.visitor_env)} if config.visitor_env else {}),
        "version": f"mcpframe {version('mcpframe')}",
    }


def _about(inputs: Inputs) -> dict[str, str]:
    """Return what a page tells its host about itself."""
    description = inputs.description
    title = inputs.project.config.title or description.title or description.name
    return {"name": inputs.project.name, "version": description.version or "0", "title": title}


def _worker(config: McpframeConfig) -> dict[str, Any]:
    """Return the part of the boot config for a server that runs in a worker."""
    limits = config.tool_timeout if isinstance(config.tool_timeout, dict) else {"*": config.tool_timeout}
    # For the loader.
    setup_hash = "|".join(each.fragments[SETUP] for each in dialects() if SETUP in each.fragments)
    settings = {"runs_in": "worker", "tool_timeout": limits, "grace": config.tool_grace, "setup_hash": setup_hash}
    return {name: value for name, value in settings.items() if value}


def _index(
    inputs: Inputs,
    archives: Archives,
    boot: Mapping[str, Any],
    lists: OriginLists,
    styles: Sequence[Asset],
    sandbox: Asset | None,
    icons: Sequence[Icon],
) -> tuple[Asset, str]:
    """Return the page, and its policy."""
    project, config, scripts = inputs.project, inputs.project.config, inputs.scripts
    name, image, in_worker = project.name, bool(archives.images), config.runs_in == "worker"
    is_server = config.kind == "server"
    inbox = inbox_data(inputs.description, config, boot["about"], lists) if is_server else None
    policy = page_policy(
        config.csp,
        url=config.url,
        frames=config.kind == "page",
        inline=[
            *([inbox_script()] if inbox else []),
            *([prefetch_script()] if image else []),
            *([register_script()] if icons else []),
        ],
        sandbox=config.sandbox_origin,
        worker=in_worker or project.processes or image,
        installable=bool(icons),
    )
    # With a snapshot, the page decides how it starts: its prefetch script and its loader request the rest.
    preloads = [] if image else [*scripts.wasm.all, *archives.native, *archives.second, *archives.plain]
    run = [scripts.pyodide, scripts.asm]
    if in_worker:  # its page fetches what the worker runs
        run, preloads = [], [*run, *preloads]
    page = render_page(
        title=boot["title"],
        csp=policy,
        generator=boot["version"],
        boot=boot,
        trials=config.origin_trials,
        styles=[link(item, name) for item in (scripts.style, *styles)],
        loader=link(scripts.loader, name),
        scripts=[link(item, name) for item in run],
        preloads=[link(item, name) for item in preloads],
        prefetch=image,
        inbox=inbox,
        sandbox={**link(sandbox, name), "origin": config.sandbox_origin} if sandbox else None,
        worker=in_worker,
        installable={"manifest": WEB_MANIFEST, "icon": relative_url(icons[0].file, name)} if icons else None,
    )
    return asset(f"{name}/index.html", page), policy


def _offline(
    inputs: Inputs, index: Asset, icons: Sequence[Icon], *, first: Sequence[Asset], others: Sequence[Asset]
) -> tuple[list[Asset], Mapping[str, Any] | None]:
    """Return the files of a page that can be installed, and their entry in the manifest.

    Args:
        first: The files that are fetched for a start without a network.
        others: Further files of the page.
    """
    if not icons:
        return [], None
    name = inputs.project.name
    fetched = list(dict.fromkeys(first))
    worker = bundle_worker(name, index, fetched, [item for item in dict.fromkeys(others) if item not in fetched])
    files = [web_manifest(name, _about(inputs)["title"], icons), worker]
    entry = {"manifest": WEB_MANIFEST, "worker": WORKER, "kept": sorted(item.path for item in fetched)}
    return [*files, *(icon.file for icon in icons)], entry


def _views(inputs: Inputs, lists: OriginLists) -> tuple[list[Asset], Mapping[str, Any] | None]:
    """Return the files of a server's views, and their entry in the manifest."""
    config, name = inputs.project.config, inputs.project.name
    if config.kind != "server" or not any(lists.of(each) is not None for each in view_dialects()):
        return [], None
    if not config.url:
        return [starter(name)], None
    texts, app = view_files(config.url, name, config.csp, config.app, inputs.first_paint)
    return [starter(name), *texts], app


def author_assets(name: str, files: Mapping[str, bytes]) -> tuple[str, dict[str, Asset]]:
    """Return the author's files for the page, in a folder with a hash in its name, so that relative references work.

    Returns:
        The folder, relative to the page, and the files by path in it.
    """
    folder = f"assets-{content_hash(*(part for path, data in files.items() for part in (path.encode(), data)))}"
    return folder, {path: asset(f"{name}/{folder}/{path}", data) for path, data in files.items()}


def _lazy_wheels(inputs: Inputs) -> tuple[list[Asset], dict[str, list[dict[str, str]]]]:
    """Return the wheels of lazy requirements, and their entry in the boot config."""
    name = inputs.project.name
    # micropip reads the file's name, so the hash for caching is in the folder's name.
    wheels = {
        wheel.package: asset(f"{name}/packages/{wheel.sha256[:16]}/{wheel.filename}", wheel.data)
        for needed in inputs.lazy.values()
        for wheel in needed
    }
    lazy = {
        root: [
            {"url": relative_url(item, name), "sha256": item.sha256}
            for item in (wheels[each.package] for each in needed)
        ]
        for root, needed in inputs.lazy.items()
    }
    return [wheels[package] for package in sorted(wheels)], lazy
