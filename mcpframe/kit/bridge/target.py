"""The server to bridge: a published address, a built folder, or a project that is built first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.cache import cache_dir, writing
from mcpframe.kit.base.errors import BridgeError, InstallError, KitError, NoFramedServer
from mcpframe.kit.base.limits import ANSWER_SECONDS
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.browser.profile import slug
from mcpframe.kit.servers.named_server import Built, Named, Published, named_server, server_manifest
from mcpframe.kit.servers.published import allows, fetch, not_offered, read_manifest

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mcpframe.kit.bundle.output_root import BuildResult


@dataclass(frozen=True)
class Target:
    """A server to frame.

    Attributes:
        key: its key, the same in every run.
        addresses: host names that are served on this machine, each with its port.
        find: returns its address; it may build the server first, and raise any KitError.
        is_seen: returns whether a person has to see its page (`visibility`), before it is built.
        manifest: returns the manifest of a bundle that the bridge may open; None if it is not known before a build.
    """

    key: str
    addresses: dict[str, int]
    find: Callable[[], str]
    is_seen: Callable[[], bool]
    manifest: Callable[[], Mapping[str, Any] | None] = lambda: None


@contextmanager
def open_target(
    where: str, *, patience: float = ANSWER_SECONDS, dialect: str | None = None, progress: Progress = silent
) -> Iterator[Target]:
    """Find the server of `where`; a folder is served for the duration of the block.

    Args:
        where: as for `named_server`.
        patience: seconds that the web server of an address may be silent.
        dialect: the dialect that the page has to offer; by default the preferred one.
        progress: called with a line of text about each step of a build.

    Raises:
        OriginError: an address that cannot be framed.
        BridgeError: an address of the bridge's own.
        KitError: the server does not exist, or cannot be bridged.
    """
    named = named_server(where)
    if isinstance(named, Published):
        yield _published(named, patience, dialect)
    elif isinstance(named, Built):
        yield from _serve_built(named.only, dialect)
    else:
        yield from _serve_project(named.path, progress, dialect)


def _published(named: Published, patience: float, dialect: str | None) -> Target:
    if named.origin == HOST_ORIGIN:
        raise BridgeError(f"{named.origin} is the bridge's own origin: give the address of a server.")

    is_silent = False

    def checked() -> str:
        if not is_silent:  # else it would be waited for twice; the browser reports the reason itself
            with suppress(NoFramedServer):
                check_published(named.url, HOST_ORIGIN, patience=patience, dialect=dialect)
        return named.url

    @cache
    def manifest() -> Mapping[str, Any] | None:
        nonlocal is_silent
        try:
            return read_manifest(named.url, patience=patience)
        except NoFramedServer:
            is_silent = True
            return None

    def usable() -> Mapping[str, Any] | None:
        try:
            check_manifest(named.url, manifest(), HOST_ORIGIN, dialect)
        except BridgeError:  # the page is opened, which says so
            return None
        return manifest()

    def is_seen() -> bool:
        return _is_seen(manifest() or {})

    return Target(named.url, {}, checked, is_seen, usable)


def _serve_built(bundle: Path, dialect: str | None) -> Iterator[Target]:
    from mcpframe.kit.servers.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    manifest = server_manifest(bundle, dialect)
    name = host_name(bundle)
    with serve_app(BundleSite.of(bundle, readers=(), guests=[HOST_ORIGIN])) as served:
        yield Target(
            str(bundle),
            {name: served.port},
            lambda: f"http://{name}/{quote(bundle.name)}/",
            lambda: _is_seen(manifest),
            lambda: manifest,
        )


def _serve_project(path: Path, progress: Progress, dialect: str | None) -> Iterator[Target]:
    from starlette.responses import PlainTextResponse

    from mcpframe.kit.servers.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    name = host_name(path)
    sites: list[BundleSite] = []

    async def built(scope: Scope, receive: Receive, send: Send) -> None:
        site = sites[-1] if sites else PlainTextResponse("Not built yet", 404)
        await site(scope, receive, send)

    def find() -> str:
        result = build_project(path, progress, dialect)
        sites[:] = [BundleSite.of(result.folder, readers=())]
        return f"http://{name}/{quote(result.url_path.lstrip('/'))}"

    with serve_app(built) as served:
        yield Target(str(path), {name: served.port}, find, lambda: _is_required(path))


def build_project(path: Path, progress: Progress = silent, dialect: str | None = None) -> BuildResult:
    """Build a project into the cache, for the bridge alone. If it is unchanged, this takes a moment.

    Raises:
        KitError: It cannot be built, or is a page.
    """
    from mcpframe.kit.bundle.pipeline import build
    from mcpframe.kit.project.project import find_server

    find_server(path)
    out = cache_dir() / "bridge" / host_name(path).partition(".")[0]
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    return build(path, out, allowed_origins=[HOST_ORIGIN], dialects=[outer_dialect(dialect).name], progress=progress)


def _is_required(path: Path) -> bool:
    """Return whether the page of a project has to be seen; False for a project that cannot be built."""
    from mcpframe.kit.project.project import find_server

    try:
        return find_server(path).config.visibility.requirement == "required"
    except KitError:  # reported by the build
        return False


def _is_seen(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest, which may be anybody's, says that the page has to be seen."""
    visibility = manifest.get("visibility")
    return isinstance(visibility, dict) and visibility.get("requirement") == "required"


def host_name(path: Path) -> str:
    """Return the host name of a folder's server, which is independent of its port: pages store data by origin."""
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{slug(path.stem)}-{digest}.mcpframe.localhost"


def check_published(url: str, origin: str, *, patience: float = ANSWER_SECONDS, dialect: str | None = None) -> None:
    """Check the page at an address, and its manifest.

    Args:
        url: The address, as `parse_address` returns it.
        origin: The origin that the server has to allow.
        patience: Seconds that the web server may be silent.
        dialect: The dialect that it has to offer; by default the preferred one.

    Raises:
        BridgeError: The page does not allow the origin, or has no server.
        NoFramedServer: The address has no page, or does not answer.
    """
    page = fetch(url, patience=patience)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: is it the address of a server's page?")
    if "html" not in page.headers.get("content-type", "html"):
        raise NoFramedServer(f"{url} is {page.headers['content-type']}, not a web page: give a server's address.")
    check_manifest(url, read_manifest(page.url, patience=patience), origin, dialect)


def check_manifest(where: str, manifest: Mapping[str, Any] | None, origin: str, dialect: str | None = None) -> None:
    """Raise `BridgeError` if a bundle does not speak to the bridge, or not from this origin. Other pages pass.

    Args:
        where: The name of the bundle in the error.
        manifest: The manifest, or None if the page was not built by mcpframe.
        origin: The origin that the server has to allow.
        dialect: The dialect that it has to offer; by default the preferred one.
    """
    if manifest is None:
        return
    if manifest.get("kind") == "page":
        raise BridgeError(f"{where} is a page without a server: there is nothing to bridge.")
    if reason := not_offered(manifest, dialect):
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
            from mcpframe.kit.project.project import find_server

            find_server(named.path)
    except KitError as error:
        raise InstallError(f"{error} Correct it, or add --no-check to write it unchecked.") from error
