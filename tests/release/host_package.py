"""The npm package `@mcpframe/host`: host.js as one file, alone and with the SDK's client, and `<mcp-server>`."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.bundled_scripts import ELEMENT_SCRIPT, HOST, NOTEBOOK_SCRIPT, bundled_script, with_record
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.web.host_page import bundle_module

_EXPORTED = ("host.js", "bundled.js", "element.js", "page-server.js", "page-hub.js", "tools.js")
"""The modules that users import."""
HUB_SCRIPTS = "hub-scripts.js"
"""The module for page-hub.js, generated from scripts of `static/hub` by `hub_scripts`."""
_PAGE_SCRIPTS = {"pageHalf": "page.js", "documentTools": "document-tools.js"}
"""Its exports, and the scripts, each of which is one function."""
CLIENT = static_dir() / "host" / "bundled" / "client.js"
"""The SDK's `Client` as one file."""
_FILES = ("README.md", "page-server.js", "page-hub.js", "hub-port.js", "host-json.js", "tools.js")
ELEMENT = "element.js"
"""The custom element `<mcp-server>`, which loads `bundled.js` beside it when a server starts."""
_ATTRIBUTES = "element-attributes.js"
"""Its superclass."""
ELEMENTS = "custom-elements.json"
"""Its Custom Elements Manifest, which editors read."""
TYPES = "types.mjs"
"""The program of the package, which writes the types of a server's tools."""
_REQUIRE = "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);"
"""Its libraries are CommonJS modules, which call `require` for Node's own."""
_FOR_NODE = ("--platform=node", "--target=node22", f"--banner:js=#!/usr/bin/env node\n{_REQUIRE}")
_UNFORMATTED = "--alias:prettier=node:util"
"""Prettier is 8 MB, and nothing is formatted: any module does in its place."""
_ANALYZER = "@custom-elements-manifest/analyzer/cem.js"
_METADATA = "package.json"
_LICENSE = re.compile("licen[cs]e", re.IGNORECASE)
_PACKAGE = re.compile(r"(?:^|/)node_modules/((?:@[^/]+/)?[^/]+)/")


def stage_host_package(folder: Path, modules: Path) -> None:
    """Fill an empty folder with the files of the package.

    Args:
        modules: The checkout's `node_modules`, as `node.install_locked` creates it.

    Raises:
        KitError: mcpframe does not run from a checkout, or esbuild or TypeScript is missing or fails.
    """
    source = static_dir() / "host"
    for name in _FILES:
        shutil.copyfile(source / name, folder / name)
    (folder / "host.js").write_text(bundled_script(HOST), "utf-8", newline="\n")
    shutil.copyfile(checkout_dir() / "LICENSE", folder / "LICENSE")
    (folder / HUB_SCRIPTS).write_text(hub_scripts(), "utf-8", newline="\n")
    write_types(folder, modules)
    (folder / _METADATA).write_text(_metadata(source / _METADATA), "utf-8", newline="\n")
    (folder / ELEMENTS).write_text(elements_manifest(modules), "utf-8", newline="\n")
    (folder / ELEMENT).write_text(bundled_script(ELEMENT_SCRIPT), "utf-8", newline="\n")
    script, inputs = _bundled("types-cli.mjs", modules, options=[*_FOR_NODE, _UNFORMATTED])
    (folder / TYPES).write_text(script, "utf-8", newline="\n")
    (folder / "types.licenses.txt").write_text(_licenses(inputs, modules), "utf-8", newline="\n")
    script, inputs = _bundled("bundled.js", modules)
    (folder / "bundled.js").write_text(script, "utf-8", newline="\n")
    (folder / "bundled.licenses.txt").write_text(_licenses(inputs, modules), "utf-8", newline="\n")


def write_host_scripts(modules: Path) -> list[Path]:
    """Write host.js, element.js, the SDK's `Client` and the front end of a notebook's widget, each as one file, and the
    client's licenses.

    They are in the repository, and in the wheel, for a host without a bundler.

    Args:
        modules: As for `stage_host_package`.

    Raises:
        KitError: esbuild is missing or fails.
    """
    texts = host_scripts(modules)
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    return [*texts]


def host_scripts(modules: Path) -> dict[Path, str]:
    """Return the texts of those files, by path."""
    script, licenses = client_files(modules)
    texts = {CLIENT: script, CLIENT.with_name("client.licenses.txt"): licenses}
    of_ours = {
        HOST: _bundled("host.js", modules),
        ELEMENT_SCRIPT: _bundled(ELEMENT, modules, external=["./bundled.js"]),
        NOTEBOOK_SCRIPT: _bundled("../notebook/widget.js", modules),
    }
    for name, (text, inputs) in of_ours.items():
        paths = [(modules.parent / path).resolve() for path in inputs]
        sources = [path.relative_to(static_dir()).as_posix() for path in paths if path.is_relative_to(static_dir())]
        texts[static_dir() / name] = with_record(text, sources)
    return texts


def bundled_file(modules: Path) -> str:
    """Return the text of bundled.js: host.js with the SDK's client."""
    return _bundled("bundled.js", modules)[0]


def elements_manifest(modules: Path) -> str:
    """Return the text of `ELEMENTS`, made by the analyzer from the comments in element.js.

    Raises:
        KitError: There is no Node.js, or the analyzer fails.
    """
    with scratch("elements") as folder:
        for name in (ELEMENT, _ATTRIBUTES):
            shutil.copyfile(static_dir() / "host" / name, folder / name)
        command = ("analyze", "--globs", ELEMENT, _ATTRIBUTES, "--outdir", ".", "--quiet")
        find_node().run(str(modules / _ANALYZER), *command, cwd=folder, timeout=300)
        manifest = json.loads((folder / ELEMENTS).read_text("utf-8"))
    manifest["modules"] = [module for module in manifest["modules"] if module["path"] == ELEMENT]
    for declaration in manifest["modules"][0]["declarations"]:
        declaration["superclass"] = {"name": "HTMLElement"}  # which there is none of outside browsers
        declaration["members"] = [*filter(_is_for_users, declaration["members"])]
        for member in [*declaration["members"], *declaration["attributes"]]:
            member.pop("inheritedFrom", None)  # that module is none of the package's
    return json.dumps(manifest, indent=2) + "\n"


def _is_for_users(member: dict[str, str]) -> bool:
    return member.get("privacy") != "private" and member["name"] not in ("connectedMoveCallback", "role")


def client_files(modules: Path) -> tuple[str, str]:
    """Return the texts of the bundled `Client` and of its licenses."""
    script, inputs = _bundled("client.js", modules)
    return script, _licenses(inputs, modules)


def _bundled(
    entry: str, modules: Path, *, external: Sequence[str] = (), options: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """Return a module of `static/host` and its imports as one, and the paths of its sources."""
    with scratch("bundling") as folder:
        made, record = folder / "script.js", folder / "inputs.json"
        source = str(static_dir() / "host" / entry)
        bundle_module(source, made, modules, external=external, record=record, options=options)
        return made.read_text("utf-8"), [*json.loads(record.read_text("utf-8"))["inputs"]]


def write_types(folder: Path, modules: Path) -> None:
    """Write the type declarations of the package, from the JSDoc of its modules.

    Args:
        modules: As for `stage_host_package`.

    Raises:
        KitError: There is no Node.js, or TypeScript fails.
    """
    source = static_dir() / "host"
    options = ["--ignoreConfig", "--allowJs", "--declaration", "--emitDeclarationOnly", "--skipLibCheck"]
    options += ["--strict", "--exactOptionalPropertyTypes"]
    options += ["--target", "es2024", "--module", "esnext", "--moduleResolution", "bundler"]
    options += ["--rootDir", str(source), "--outDir", str(folder.absolute())]
    entries = (str(source / name) for name in _EXPORTED)
    find_node().run(str(modules / "typescript" / "lib" / "tsc.js"), *options, *entries, cwd=folder, timeout=300)


def pack_host_package(target: Path, modules: Path) -> Path:
    """Pack the package as `npm publish` would.

    Args:
        target: The folder for the archive; it is created if necessary.
        modules: As for `stage_host_package`.

    Returns:
        The archive.

    Raises:
        KitError: As for `stage_host_package`, or npm fails.
    """
    target.mkdir(parents=True, exist_ok=True)
    staged = target / ".host-package"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir()
    try:
        stage_host_package(staged, modules)
        said = find_node().npm(
            "pack", "--json", "--ignore-scripts", "--pack-destination", str(target.absolute()), cwd=staged
        )
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    name: str = json.loads(said)[0]["filename"]
    return target / name.replace("@", "").replace("/", "-")


def hub_scripts() -> str:
    """Return the text of `HUB_SCRIPTS`."""
    parts = ['import { textOrReason } from "./host-json.js";']
    for name, script in _PAGE_SCRIPTS.items():
        text = (static_dir() / "hub" / script).read_text("utf-8")
        _, _, function = text.partition("*/\n")  # its comment is for developers
        parts.append(f"export const {name} = {function.strip()}")
    return "\n\n".join(parts) + "\n"


def _metadata(source: Path) -> str:
    """Return the text of package.json, with the version and the addresses of the project's pyproject.toml."""
    project = tomllib.loads((checkout_dir() / "pyproject.toml").read_text("utf-8"))["project"]
    urls = project["urls"]
    metadata = {
        **json.loads(source.read_text("utf-8")),
        "version": project["version"],
        "homepage": urls["Homepage"],
        "repository": {"type": "git", "url": f"git+{urls['Repository']}.git", "directory": "static/host"},
        "bugs": {"url": urls["Issues"]},
    }
    return json.dumps(metadata, indent=2) + "\n"


def _licenses(inputs: list[str], modules: Path) -> str:
    """Return the license texts of the packages in the bundled file."""
    names = sorted({found[1] for path in inputs if (found := _PACKAGE.search(path))})
    parts = []
    for name in names:
        texts = sorted(file for file in (modules / name).iterdir() if _LICENSE.match(file.name))
        metadata = json.loads((modules / name / _METADATA).read_text("utf-8"))
        head = f"{name} {metadata['version']} ({metadata.get('license', 'no license named')})"
        parts.append("\n\n".join([head, *(text.read_text("utf-8").strip() for text in texts)]))
    return ("\n\n" + "-" * 80 + "\n\n").join(parts) + "\n"
