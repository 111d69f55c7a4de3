"""Builds the playground: a static page with an editor, in which servers run from a bundle that is built here.

The bundle (`static/playground/donor`) lends its runtime and the SDK's snapshot. Each run makes its page in the browser:
see `static/playground/server-page.js`.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from unittest.mock import patch

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.generate.language import write_language
from docs.generate.maker import write_maker
from docs.generate.offline import write_offline_worker
from docs.generate.playground_packages import USUAL, Installing, write_installing
from docs.generate.run_origin import RunOrigin, frame_sources, policy_of_servers, policy_text, write_run_page
from mcpframe.kit.base.data import static_dir, templates_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.own_modules import own_sources
from mcpframe.kit.bundle.assembly.single_file import framed_page
from mcpframe.kit.bundle.output_root import read_bundle
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Lock, read_lock
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.wasm.profile import WHOLE
from mcpframe.kit.project.template_files import template_files, template_names
from mcpframe.kit.web.host_page import bundle_module

SOURCES = static_dir() / "playground"
DONOR = "playground"
SOURCES_OF_FILES = ("https://raw.githubusercontent.com", "https://gist.githubusercontent.com")
"""Origins of which the playground opens files, at a link's or its user's request. They have to allow it by CORS."""
MODELS = (
    "https://api.anthropic.com",
    "https://api.openai.com",
    "https://generativelanguage.googleapis.com",
    "http://localhost:*",
    "http://127.0.0.1:*",
)
"""Where models are that the playground's user may ask: services, and servers on the user's machine."""
_LEFT_OUT = ("tests/", "mcpframe.lock", ".gitignore", ".github/")


def build_playground(
    root: Path,
    target: Path,
    *,
    snapshot: bool | None = None,
    sources: Sequence[str] = SOURCES_OF_FILES,
    models: Sequence[str] = MODELS,
    installing: Installing = USUAL,
    run_origin: RunOrigin | None = None,
    run_page: Path | None = None,
    progress: Progress = silent,
) -> None:
    """Write the playground.

    Args:
        root: The repository, whose npm packages the editor is made of.
        target: The folder to write; files that are there stay if they are equal.
        snapshot: As for `build`.
        sources: The origins of which it opens files. None: it opens no addresses.
        models: The origins of models that its user may ask, as sources of a policy.
        installing: What it installs further packages from.
        run_origin: Where servers run; None for frames without an origin.
        run_page: The folder to write the page for the run origin into.
        progress: Called with a description of each step.

    Raises:
        KitError: The bundle cannot be built, or esbuild fails.
    """
    target.mkdir(parents=True, exist_ok=True)
    with scratch("playground") as folder:
        donor = folder / "donor"
        shutil.copytree(SOURCES / "donor", donor)
        shutil.copy(templates_dir() / "minimal" / "mcpframe.lock", donor)
        # A run compiles its modules, which the first file of a split WebAssembly lacks the functions for.
        with patch.dict(os.environ, {WHOLE: "1"}):
            build(donor, target / "bundle", snapshot=snapshot, progress=progress)
        lock = read_lock(donor / "mcpframe.lock") or Lock("", ())
    files, _ = read_bundle(target / "bundle", DONOR)
    page, names = framed_page(DONOR, files)
    (target / "framed.html").write_bytes(page)
    versions = json.loads(files[f"{DONOR}/manifest.json"])["versions"]
    places = {url: f"bundle/{path}" for url, path in names.items()}
    packages = {**versions["packages"], "mcpframe": versions["mcpframe"]}
    parts = parts_of_run(boot_of(page), places)
    listed = {**parts, "packages": packages, "python": versions["python"]}
    (target / "files.json").write_text(json.dumps(listed), "utf-8")
    (target / "templates.json").write_text(json.dumps(_templates(set(packages))), "utf-8")
    (target / "export.json").write_text(json.dumps(export_parts(runnable(target))), "utf-8")
    write_installing(target, installing)
    modules = install_locked(root)
    with progress("Bundling the editor"):
        chunks = _bundle_script(target, modules)
        bundle_module(str(SOURCES / "run.js"), target / "run.js", modules)
    others = (*models, *installing.sources)
    write_pages(target, sources=sources, others=others, run_origin=run_origin, scripts=chunks)
    if run_origin and run_page:
        write_run_page(run_origin, page, run_page)
    for name in ("playground.css", "run.css"):
        shutil.copy(SOURCES / name, target)
    with progress("Making the stubs of the code help"):
        wheels = fetch_wheels(lock.packages, PyodidePackages(ensure_runtime()))
        write_language(modules, target / "language", wheels.values(), own_sources())
    write_maker(target / "maker")
    places = {**parts["first"], **parts["later"]}
    # The code help, the formatter and the maker, which are not among these, are kept once they have been used.
    own = [path for path in target.iterdir() if path.is_file()]
    write_offline_worker(target, {*own, *(target / path for path in (*chunks, *places.values()))})


def write_pages(
    target: Path,
    *,
    sources: Sequence[str] = SOURCES_OF_FILES,
    others: Sequence[str] = (),
    run_origin: RunOrigin | None = None,
    scripts: Iterable[str] = (),
) -> None:
    """Write `index.html` and `run.html` of a playground whose `framed.html` is there. See `build_playground`.

    Args:
        target: The playground's folder.
        sources: The origins of which it opens files.
        others: Further origins that it makes requests to.
        run_origin: Where servers run.
        scripts: What the page loads at its start, by path.
    """
    preloads = "".join(f'<link rel="modulepreload" href="{escape(path)}">\n' for path in sorted(scripts))
    page = (target / "framed.html").read_bytes()
    for name in ("index.html", "run.html"):
        text = (SOURCES / name).read_text("utf-8")
        is_own = name == "index.html"  # a link's server runs without an origin: it has no project to keep anything for
        policy = _policy(page, (*sources, *others) if is_own else (), run_origin if is_own else None)
        text = text.replace("POLICY", escape(policy)).replace("SOURCES", escape(" ".join(sources)))
        text = text.replace("PRELOADS\n", preloads)
        text = text.replace("RUN_ORIGIN", escape(run_origin.pattern if run_origin else ""))
        (target / name).write_text(text, "utf-8")


def _bundle_script(target: Path, modules: Path) -> set[str]:
    """Write the page's script, and return the paths of it and the files that it loads at its start."""
    with scratch("playground-script") as folder:
        record = folder / "record.json"
        bundle_module(str(SOURCES / "first.js"), target / "playground.js", modules, split=True, record=record)
        outputs = json.loads(record.read_text("utf-8"))["outputs"]
    imports = {
        os.path.relpath(modules.parent / path, target): [
            os.path.relpath(modules.parent / each["path"], target)
            for each in output["imports"]
            if each["kind"] == "import-statement"
        ]
        for path, output in outputs.items()
    }
    found: set[str] = set()
    # The first script loads these by `import()`.
    entries = tuple(f"playground/{name}.js" for name in ("spare", "main"))
    begun = [path for path, output in outputs.items() if output.get("entryPoint", "").endswith(entries)]
    waiting = ["playground.js", *(os.path.relpath(modules.parent / path, target) for path in begun)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imports[name]
    return {Path(name).as_posix() for name in found}


def parts_of_run(boot: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the files of the donor in parts: `first`, read by each start; `later`, which a run may read; and `others`.

    Args:
        boot: Its boot config.
        places: The paths of all its files, by URL.
    """
    files = boot["files"]
    snapshot = files["snapshot"] or {"layers": [], "libraries": len(files["libraries"])}
    starting = [files["wasm"], files["loader"], files["pyodide"], files["asm"], *snapshot["layers"]]
    starting += [snapshot[name] for name in ("decoder",) if name in snapshot]
    starting += files["libraries"][: snapshot["libraries"]]
    first = {file["url"] for file in starting}
    own = {archive["url"] for archive in files["archives"] if archive["own"]}  # a run has an archive of its project
    later = set(_urls(files)) - first - own
    parts = {"first": first, "later": later, "others": places.keys() - first - later}
    return {name: {url: path for url, path in places.items() if url in urls} for name, urls in parts.items()}


def _urls(value: Any) -> Iterator[str]:
    """Yield the URLs in a part of a boot config."""
    if isinstance(value, dict) and isinstance(value.get("url"), str):
        yield value["url"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _urls(each)


def export_parts(names: Iterable[str]) -> dict[str, Any]:
    """Return what projects, and those of these templates, get when they are downloaded: see `playground/export.js`."""
    folder = SOURCES / "export"
    own = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.*")}
    made = template_files("new")
    common = {path: made[path].decode() for path in made if path.startswith((".github/", ".gitignore"))}
    tests = {}
    for name in names:
        texts = _texts(name) or {}
        tests[name] = {path: text for path, text in texts.items() if path.startswith("tests/")}
    return {"common": common | own, "tests": tests}


def runnable(playground: Path) -> list[str]:
    """Return the names of the templates that a built playground runs."""
    return [each["name"] for each in json.loads((playground / "templates.json").read_text("utf-8"))]


def _templates(packages: set[str]) -> list[dict[str, Any]]:
    """Return the templates that run in the playground: their names, titles and files, the smallest first."""
    found = []
    for name in template_names():
        folder = templates_dir() / name
        config = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        own, needed = config["tool"]["mcpframe"], config["project"]["dependencies"]
        lacking = {canonicalize_name(Requirement(each).name) for each in (*needed, *own.get("lazy", ()))}
        if own.get("kind") == "page" or own.get("npm") or lacking - packages:
            continue
        files = _texts(name)
        if files is None:
            continue
        texts = {path: text for path, text in files.items() if not path.startswith(_LEFT_OUT)}
        found.append({"name": name, "title": own.get("title", name), "files": texts})
    return sorted(found, key=lambda each: sum(map(len, each["files"].values())))


def bytes_of_run(playground: Path) -> int:
    """Return what the first run in a built playground needs, in bytes, from a host that compresses by gzip."""
    listed = json.loads((playground / "files.json").read_text("utf-8"))
    places = [*listed["first"].values(), *listed["later"].values()]
    files = [(playground / path).read_bytes() for path in places]
    return sum(min(len(data), len(gzip.compress(data, 6))) for data in files)


def _texts(template: str) -> dict[str, str] | None:
    """Return the files of a template by path, or None if some are no text."""
    folder = templates_dir() / template
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    try:
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    except UnicodeDecodeError:
        return None


def _policy(page: bytes, sources: Sequence[str], run_origin: RunOrigin | None) -> str:
    """Return the policy of the playground, which its servers' frames without an origin have besides their own."""
    directives = policy_of_servers(page, ["'self'"])
    directives["connect-src"] += sources
    directives["frame-src"] = frame_sources(run_origin)
    return policy_text(directives)
