"""Check that the bridge can frame a server, before its browser starts and before a client is configured to use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.kit.base.errors import BridgeError, InstallError, KitError, NoFramedServer
from mcpframe.kit.project.project import find_server
from mcpframe.kit.web.named_server import Built, Named, Published, server_manifest
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


def check_manifest(where: str, manifest: Mapping[str, Any] | None, origin: str) -> None:
    """Raise `BridgeError` if a bundle does not speak to the bridge, or not from this origin. Other pages pass.

    Args:
        where: The name of the bundle in the error.
        manifest: The manifest, or None if the page was not built by mcpframe.
        origin: The origin that the server has to allow.
    """
    if manifest is None:
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


def check_for_install(named: Named, origin: str) -> None:
    """Check a server before a client is configured to run it.

    Raises:
        InstallError: The server cannot be bridged; the message says why, and how to write the entry anyway.
    """
    try:
        if isinstance(named, Published):
            check_published(named.url, origin)
        elif isinstance(named, Built):
            server_manifest(named.only)
        else:
            find_server(named.path)
    except KitError as error:
        raise InstallError(f"{error} Correct it, or add --no-check to write it unchecked.") from error
