"""`server.json` of the MCP Registry, in the format of 2025-12-11.

A page is no package, and speaks none of the registry's transports. A server is therefore registered by a package that
its author owns, which starts the bridge, or by a bridge that is deployed somewhere; the page itself is in `_meta`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.publish.listings.listing import PAGE_KEY, Listing, is_https

SERVER_JSON = "server.json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
"""The only key of `_meta` that the registry keeps."""
_MOST_META = 4096
"""Bytes of JSON that the registry takes below that key."""
_RELEASES = re.compile(
    r"https://(www\.)?github\.com/[\w-]+/[\w.-]+/releases/download/[^/]+/[^/]+"
    r"|https://(www\.)?gitlab\.com/[\w./-]+/-/releases/[^/]+/downloads/[^/]+",
    re.ASCII,
)
"""The files of releases that the registry takes: it knows their owners."""
_PACKAGE = re.compile(
    r"(?P<type>pypi|npm):(?P<name>(@[\w.-]+/)?[A-Za-z0-9][\w.-]*)(==|@)(?P<version>[A-Za-z0-9][\w.+!-]*)"
)
_HINTS = {"pypi": "uvx", "npm": "npx"}

Package = dict[str, Any]


def check_release(url: str) -> None:
    """Check the address of a `.mcpb` on a release.

    Raises:
        ConfigError: The registry does not take a file from there.
    """
    if not is_https(url) or not _RELEASES.fullmatch(url) or not url.endswith(".mcpb"):
        raise ConfigError(
            f"{url} is not the address of a .mcpb on a release of GitHub or GitLab, such as "
            "https://github.com/someone/pi-mcp/releases/download/v1.0.0/pi.mcpb."
        )


def released_package(url: str, sha256: str) -> Package:
    """Return the entry of a `.mcpb` on a release.

    Args:
        url: Its address; see `check_release`.
        sha256: The SHA-256 of the file, in hexadecimal digits.

    Raises:
        ConfigError: The registry does not take a file from there.
    """
    check_release(url)
    # Without a version: the registry refuses one beside an address.
    return {"registryType": "mcpb", "identifier": url, "fileSha256": sha256, "transport": {"type": "stdio"}}


def own_package(text: str) -> Package:
    """Return the entry of a package on PyPI or npm that starts the server.

    Args:
        text: `pypi:NAME==VERSION` or `npm:NAME@VERSION`.

    Raises:
        ConfigError: It is neither, or is mcpframe itself, which its authors own.
    """
    match = _PACKAGE.fullmatch(text)
    if match is None:
        raise ConfigError(f"{text!r} is not pypi:NAME==VERSION or npm:NAME@VERSION.")
    if match["type"] == "pypi" and re.sub(r"[-_.]+", "-", match["name"]).lower() == "mcpframe":
        raise ConfigError(
            "The registry takes a package from its owner only: publish one of your own that runs mcpframe."
        )
    return {
        "registryType": match["type"],
        "identifier": match["name"],
        "version": match["version"],
        "runtimeHint": _HINTS[match["type"]],
        "transport": {"type": "stdio"},
    }


def ownership_mark(package: Package, name: str) -> str | None:
    """Return what the author has to add to a package, by which the registry knows its owner; None for nothing."""
    marks = {
        "pypi": f"add `mcp-name: {name}` to its README",
        "npm": f'add "mcpName": "{name}" to its package.json',
    }
    return marks.get(package["registryType"])


def server_json(listing: Listing, packages: Sequence[Package], remotes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the content of `server.json`.

    Args:
        packages: Entries as from `released_package` and `own_package`.
        remotes: The addresses of bridges, over Streamable HTTP.

    Raises:
        ConfigError: The registry refuses it; the message says what to change.
    """
    page = {"url": listing.page, "origins": list(listing.origins)}
    document: dict[str, Any] = {
        "$schema": SCHEMA,
        "name": listing.name,
        "title": listing.title,
        "description": listing.description,
        "version": listing.version,
        "websiteUrl": listing.page,
        **({"packages": list(packages)} if packages else {}),
        **({"remotes": [{"type": "streamable-http", "url": url} for url in remotes]} if remotes else {}),
        "_meta": {_PUBLISHER: {PAGE_KEY: page}},
    }
    if problems := problems_of_document(document):
        raise ConfigError(" ".join(problems))
    return document


def problems_of_document(document: Mapping[str, Any]) -> list[str]:
    """Return what the registry refuses in a `server.json` of valid listing fields, in sentences."""
    problems = []
    packages, remotes = document.get("packages", ()), document.get("remotes", ())
    if not packages and not remotes:
        problems.append("No client can use a page by itself: give --release, --package or --remote.")
    problems += [
        f"A remote has to begin with https://, which {remote['url']} does not."
        for remote in remotes
        if not is_https(remote["url"])
    ]
    size = len(json.dumps(document.get("_meta", {}).get(_PUBLISHER, {})).encode())
    if size > _MOST_META:
        problems.append(f"The page's origins take {size} bytes; the registry keeps {_MOST_META}: allow fewer.")
    return problems
