"""Write the files of a listing into a folder: those that the author asked for, and no others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import make_public_folder, write_file
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.processes import shell_text
from mcpframe.kit.publish.listings import cards, install_page, mcpb, registry
from mcpframe.kit.publish.listings.listing import PAGE_KEY, Listing


@dataclass(frozen=True)
class ListingFiles:
    """The files to write, and what only the author knows.

    Attributes:
        server_json: Write `server.json`, for the MCP Registry.
        mcpb: Write a `.mcpb`, for Claude Desktop.
        card: Write a server card, for a bridge over HTTP.
        install_page: Write `install-NAME.html`, and the links to it for a README.
        author: The author's name, for the `.mcpb`.
        release: The address at which the `.mcpb` will be.
        packages: Packages of the author that start the server, as for `registry.own_package`.
        remotes: Addresses of deployed bridges.
    """

    server_json: bool = False
    mcpb: bool = False
    card: bool = False
    install_page: bool = False
    author: str = ""
    release: str | None = None
    packages: Sequence[str] = ()
    remotes: Sequence[str] = ()


@dataclass(frozen=True)
class Written:
    """A written file, and what the author does with it."""

    path: Path
    next: str


def write_listing(listing: Listing, wanted: ListingFiles, folder: Path) -> list[Written]:
    """Write the files, which every user can read, as web servers have to. They replace earlier ones of their names.

    Raises:
        ConfigError: No file is wanted, a value is missing or refused, or a file is there that its author wrote. Nothing
            was written.
        WriteError: A file cannot be written.
    """
    files: dict[str, tuple[bytes, str]] = {}
    archive = mcpb.mcpb(listing, wanted.author) if wanted.mcpb or wanted.release else None
    if archive is not None:
        if wanted.release is not None:
            registry.check_release(wanted.release)
        where = wanted.release or "a release of your repository"
        files[mcpb.file_name(listing)] = (archive, f"attach it to {where}; Claude Desktop opens it")
    if wanted.server_json:
        files[registry.SERVER_JSON] = _server_json(listing, wanted, archive)
    if wanted.card:
        if len(wanted.remotes) != 1:
            raise ConfigError("A card leads to one bridge over HTTP: give its address as --remote.")
        card = cards.server_card(listing, wanted.remotes[0])
        files[cards.CARD_JSON] = (
            _json(card),
            shell_text(["mcpframe", "bridge", listing.page, "--http", "--card", str(folder / cards.CARD_JSON)]),
        )
    if wanted.install_page:
        download = wanted.release or (mcpb.file_name(listing) if wanted.mcpb else None)
        page = install_page.install_page(listing, download)
        beside = "" if download is None or wanted.release else f", with {download} beside it"
        files[install_page.file_name(listing)] = (page, f"upload it to {install_page.address(listing)}{beside}")
        files["install-links.md"] = (install_page.readme_buttons(listing).encode(), "paste it into a README")
    if not files:
        raise ConfigError("Nothing to write: add --server-json, --mcpb, --card or --install-page.")
    for name in files:
        _check_own(folder / name)
    make_public_folder(folder)
    for name, (data, _) in files.items():
        write_file(folder / name, data, public=True)
    return [Written(folder / name, todo) for name, (_, todo) in files.items()]


def _check_own(path: Path) -> None:
    """Raise `ConfigError` if a JSON file is there that `announce` has not written. Others have their own names."""
    if path.suffix == ".json" and path.is_file() and PAGE_KEY.encode() not in path.read_bytes():
        raise ConfigError(f"{path} is not one that mcpframe wrote: move it away, or choose another --output.")


def _server_json(listing: Listing, wanted: ListingFiles, archive: bytes | None) -> tuple[bytes, str]:
    packages = [registry.own_package(text) for text in wanted.packages]
    if wanted.release is not None and archive is not None:
        packages.insert(0, registry.released_package(wanted.release, hashlib.sha256(archive).hexdigest()))
    marks = [mark for package in packages if (mark := registry.ownership_mark(package, listing.name))]
    todo = "; ".join([*marks, "mcp-publisher login github", "mcp-publisher publish"])
    return _json(registry.server_json(listing, packages, wanted.remotes)), todo


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
