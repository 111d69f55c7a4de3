"""The npm package `@mcpframe/host`: `static/host/host.js` with its types, alone and bundled with the SDK's client."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.web.host_page import HOST_MODULES, bundle_module

_EXPORTED = ("host.js", "bundled.js", "page-server.js", "app-hub.js")
"""The modules that users import."""
HUB_SCRIPTS = "hub-scripts.js"
"""The module for app-hub.js, generated from scripts of `static/hub` by `hub_scripts`."""
_PAGE_SCRIPTS = {"pageHalf": "page.js", "documentTools": "document-tools.js"}
"""Its exports, and the scripts, each of which is one function."""
CLIENT = static_dir() / "host" / "bundled" / "client.js"
"""The SDK's `Client` as one file."""
_FILES = (*HOST_MODULES, "README.md", "page-server.js", "app-hub.js", "app-port.js")
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
    shutil.copyfile(checkout_dir() / "LICENSE", folder / "LICENSE")
    (folder / HUB_SCRIPTS).write_text(hub_scripts(), "utf-8", newline="\n")
    write_types(folder, modules)
    (folder / _METADATA).write_text(_metadata(source / _METADATA), "utf-8", newline="\n")
    record = folder / "inputs.json"
    bundle_module(str(source / "bundled.js"), folder / "bundled.js", modules, record=record)
    inputs = json.loads(record.read_text("utf-8"))["inputs"]
    record.unlink()
    (folder / "bundled.licenses.txt").write_text(_licenses(list(inputs), modules), "utf-8", newline="\n")


def write_client(modules: Path) -> list[Path]:
    """Write the SDK's `Client` as one file into `static/host/bundled`, for a host without a bundler, and its licenses.

    It is in the repository, and in the wheel: it changes only with the SDK's version.

    Args:
        modules: As for `stage_host_package`.

    Raises:
        KitError: esbuild is missing or fails.
    """
    script, licenses = client_files(modules)
    CLIENT.parent.mkdir(exist_ok=True)
    CLIENT.write_text(script, "utf-8", newline="\n")
    beside = CLIENT.with_name("client.licenses.txt")
    beside.write_text(licenses, "utf-8", newline="\n")
    return [CLIENT, beside]


def client_files(modules: Path) -> tuple[str, str]:
    """Return the texts of these two files."""
    with scratch("bundling") as folder:
        made, record = folder / "client.js", folder / "inputs.json"
        bundle_module(str(static_dir() / "host" / "client.js"), made, modules, record=record)
        inputs = json.loads(record.read_text("utf-8"))["inputs"]
        return made.read_text("utf-8"), _licenses(list(inputs), modules)


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
