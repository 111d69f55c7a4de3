"""Check that the bridge can frame a server, before its browser starts and before a client is configured to use it."""

from __future__ import annotations

import json
from pathlib import Path

from mcpframe.kit.base.errors import BridgeError, InstallError, KitError, NoFramedServer
from mcpframe.kit.web.published import allows, fetch, not_offered, read_manifest


def check_published(url: str, origin: str) -> None:
    """Check the page at an address, and its manifest.

    Args:
        url: The address, as `parse_address` returns it.
        origin: The origin that the server has to allow.

    Raises:
        BridgeError: The page does not allow the origin, or is a page without a server.
        NoFramedServer: There is no page at the address, or no answer.
    """
    page = fetch(url)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: is it the address of a server's page?")
    if "html" not in page.headers.get("content-type", "html"):
        raise NoFramedServer(f"{url} is {page.headers['content-type']}, not a web page: give a server's address.")
    check_manifest(url, read_manifest(page.url), origin)


def check_manifest(where: str, manifest: object, origin: str) -> None:
    """Raise `BridgeError` if a bundle does not speak to the bridge, or not from this origin. Other pages pass.

    Args:
        where: The name of the bundle in the error.
        manifest: The parsed file, or None if the page was not built by mcpframe.
        origin: The origin that the server has to allow.
    """
    if not isinstance(manifest, dict):
        return
    if manifest.get("kind") == "page":
        raise BridgeError(f"{where} is a page without a server: there is nothing to bridge.")
    if reason := not_offered(manifest):
        raise BridgeError(f"{where} {reason}.")
    if not allows(manifest, origin):
        raise BridgeError(
            f"{where} does not allow the bridge's origin: add {origin} to allowed_origins of its project, or build it "
            f"with --allow-origin {origin} and one --allow-origin for each other host."
        )


def check_for_install(where: str, origin: str) -> None:
    """Check a server before a client is configured to run it: an address, a built folder or a project.

    Raises:
        InstallError: The server cannot be bridged; the message says why, and how to write the entry anyway.
    """
    try:
        if where.startswith(("http:", "https:")):
            check_published(where, origin)
        else:
            _check_path(Path(where), origin)
    except KitError as error:
        raise InstallError(f"{error} Correct it, or add --no-check to write it unchecked.") from error


def check_built(folder: Path, origin: str) -> None:
    """Check the manifest of a built folder.

    Raises:
        BridgeError: The manifest cannot be read, does not allow the origin, or is that of a page without a server.
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
        raise BridgeError(f"{path} is a page without a server: there is nothing to bridge.")
