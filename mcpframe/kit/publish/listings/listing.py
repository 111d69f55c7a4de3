"""The facts in a listing of a published server, from its manifest and its author, by the rules of all formats.

The MCP Registry's `server.json` (schema of 2025-12-11) and server cards (SEP-2127) have the same fields, with the same
limits. A format that is stricter checks more in its own module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from typing import Any
from urllib.parse import urlsplit

from mcpframe.frame.core.visible import plain
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.servers.published import allows

_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?/[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?")
_LONGEST_NAME = 200
PAGE_KEY = "mcpframe/page"
"""The key of `_meta` with the server's page, in formats that have no field for it. By it `announce` knows its files."""
LONGEST_TEXT = 100
"""The characters of a title or a description."""
_LONGEST_VERSION = 255
_RANGE = re.compile(r"latest$|[\^~<>=*]|\s|\|\||(^|\.)[xX](\.|$)")
"""Texts that registries read as a range of versions, or as no version."""


@dataclass(frozen=True)
class Listing:
    """The facts in a listing of a server.

    Attributes:
        name: The name under which it is registered, such as `io.github.someone/pi-calculator`.
        title: Its name for people.
        description: What it does, in a sentence.
        version: Its version.
        page: The address of its page.
        origins: The origins that may embed the page.
        tools: Its tools, each with `name` and, if it has one, `description`; None if the manifest has none.
    """

    name: str
    title: str
    description: str
    version: str
    page: str
    origins: tuple[str, ...]
    tools: tuple[Mapping[str, str], ...] | None

    @property
    def short_name(self) -> str:
        """The name without the author's part."""
        return self.name.partition("/")[2]

    @property
    def slug(self) -> str:
        """The name of its files: the short name in small letters, digits and hyphens."""
        return "".join(each if each.isalnum() else "-" for each in self.short_name.lower())

    @property
    def command(self) -> tuple[str, ...]:
        """The command that runs the server for a client, with mcpframe's version pinned."""
        return "uvx", f"mcpframe@{installed_version('mcpframe')}", "bridge", self.page


def listing_of(
    manifest: Mapping[str, Any] | None,
    page: str,
    name: str,
    *,
    description: str | None = None,
    version: str | None = None,
) -> Listing:
    """Return the listing of a published bundle.

    Args:
        manifest: Its manifest; None if it has none.
        page: The address of its page.
        name: The name under which it is registered.
        description: What it does; by default the first sentence of the server's instructions.
        version: Its version; by default the server's own.

    Raises:
        ConfigError: A value is missing, or one that registries refuse; or the bridge may not open the page.
    """
    if manifest is None:
        raise ConfigError(f"{page} has no manifest.json: give the address of a page that mcpframe has built.")
    if not allows(manifest, HOST_ORIGIN):
        raise ConfigError(
            f"{page} does not allow the bridge, through which clients reach it: add {HOST_ORIGIN} to allowed_origins."
        )
    server = manifest.get("server")
    server = server if isinstance(server, Mapping) else {}
    listing = Listing(
        name=name,
        title=(_line(manifest.get("title")) or _line(server.get("title")) or name.partition("/")[2])[:LONGEST_TEXT],
        description=description or _first_sentence(manifest.get("instructions")),
        version=version or _line(server.get("version")),
        page=page,
        origins=tuple(str(origin) for origin in manifest["allowed_origins"]),
        tools=_tools(manifest.get("tools")),
    )
    if problems := problems_of(listing):
        raise ConfigError(" ".join(problems))
    return listing


def problems_of(listing: Listing) -> list[str]:
    """Return what registries refuse in a listing, in sentences with the remedy."""
    problems = []
    if not _NAME.fullmatch(listing.name) or len(listing.name) > _LONGEST_NAME:
        problems.append(f"The name {listing.name!r} is not like io.github.someone/server: give another --name.")
    if not 1 <= len(listing.description) <= LONGEST_TEXT:
        problems.append(
            f"A description has 1 to {LONGEST_TEXT} characters, not {len(listing.description)}: give --description."
        )
    if not 1 <= len(listing.version) <= _LONGEST_VERSION or _RANGE.search(listing.version):
        problems.append(f"The version {listing.version!r} is not one version, such as 1.0.2: give --server-version.")
    if not is_https(listing.page):
        problems.append(f"The page's address has to begin with https://, which {listing.page} does not.")
    return problems


def is_https(url: str) -> bool:
    """Return whether a text is an https address without a user's name and password."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and url.isprintable()
    except ValueError:
        return False


def _tools(tools: object) -> tuple[Mapping[str, str], ...] | None:
    if not isinstance(tools, list):
        return None
    return tuple(
        {key: plain(str(tool[key])) for key in ("name", "description") if tool.get(key)}
        for tool in tools
        if isinstance(tool, Mapping) and tool.get("name")
    )


def _line(text: object) -> str:
    """Return a text of a manifest on one line, without characters that nobody sees."""
    return " ".join(plain(str(text or "")).split())


def _first_sentence(text: object) -> str:
    """Return the first sentence of a text, if it is short enough."""
    first = re.split(r"(?<=[.!?])\s", _line(text), maxsplit=1)[0]
    return first if len(first) <= LONGEST_TEXT else ""
