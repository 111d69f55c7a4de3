"""Whether the bridge can frame a server: looked at before its browser starts, and before a client is told to use it."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.errors import BridgeError, InstallError, KitError, NoFramedServer
from mcpframe.kit.web.published import allows, fetch, read_manifest


def check_published(url: str, origin: str) -> None:
    """Look at the page of an address, and at its manifest.

    Args:
        url: The address, as `parse_address` returns it.
        origin: The origin that it has to allow.

    Raises:
        BridgeError: The page does not allow the origin, or is a page and no server.
        NoFramedServer: There is no page at the address, or nobody answers.
    """
    page = fetch(url)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: is it the address of a server's page?")
    if "html" not in page.headers.get("content-type", "html"):
        raise NoFramedServer(f"{url} is no web page but {page.headers['content-type']}: give a server's page.")
    check_manifest(url, read_manifest(page.url), origin)


def check_manifest(where: str, manifest: object, origin: str) -> None:
    """Raise `BridgeError` where a manifest says that the origin may not frame the bundle; anything else may.

    Args:
        where: What the bundle is called in the error.
        manifest: What was read, or None where the page is of another maker.
        origin: The origin that it has to allow.
    """
    if not isinstance(manifest, dict):
        return
    if manifest.get("kind") == "page":
        raise BridgeError(f"{where} is a page and no server: there is nothing to bridge.")
    if not allows(manifest, origin):
        raise BridgeError(
            f"{where} does not allow the bridge's origin: add {origin} to allowed_origins of its project, or build it "
            f"with --allow-origin {origin} and one --allow-origin for each other host."
        )


def check_for_install(where: str, origin: str) -> None:
    """Look at what a client is about to be told to run: an address, a built folder or a project.

    Raises:
        InstallError: It cannot be bridged; the message says why, and how to write the entry all the same.
    """
    try:
        if where.startswith(("http:", "https:")):
            check_published(where, origin)
        else:
            _check_path(Path(where), origin)
    except KitError as error:
        raise InstallError(f"{error} Correct it, or add --no-check to write it unchecked.") from error


def check_built(folder: Path, origin: str) -> None:
    """Look at the manifest of a built folder.

    Raises:
        BridgeError: It cannot be read, does not allow the origin, or is a page's.
    """
    file = folder / "manifest.json"
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("allowed_origins"), list):
        raise BridgeError(f"{file} is not the manifest of a bundle: build the project again.")
    check_manifest(str(folder), manifest, origin)


def _check_path(path: Path, origin: str) -> None:
    from mcpframe.kit.project.project import find_project

    if (path / "manifest.json").is_file() and (path / "index.html").is_file():
        check_built(path, origin)
    elif find_project(path).config.kind == "page":
        raise BridgeError(f"{path} is a page and no server: there is nothing to bridge.")
