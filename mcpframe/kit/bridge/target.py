"""The server to bridge: a published address, a built folder, or a project that is built first."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpframe.frame.dialects.available import dialect
from mcpframe.kit.base.cache import cache_dir, writing
from mcpframe.kit.base.errors import BridgeError, NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bridge.tab import HOST_ORIGIN
from mcpframe.kit.project.project import find_server
from mcpframe.kit.web.named_server import Built, Published, named_server, server_manifest

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


@dataclass(frozen=True)
class Target:
    """A server to frame.

    Attributes:
        key: its key, the same in every run.
        addresses: host names that are served on this machine, each with its port.
        find: returns its address; it may build the server first, and raise any KitError.
    """

    key: str
    addresses: dict[str, int]
    find: Callable[[], str]


@contextmanager
def open_target(where: str, *, progress: Progress = silent) -> Iterator[Target]:
    """Find the server of `where`; a folder is served for the duration of the block.

    Args:
        where: as for `named_server`.
        progress: called with a line of text about each step of a build.

    Raises:
        OriginError: an address that cannot be framed.
        BridgeError: an address of the bridge's own.
        KitError: there is no server there, or one that cannot be bridged.
    """
    named = named_server(where)
    if isinstance(named, Published):
        yield _published(named)
    elif isinstance(named, Built):
        yield from _serve_built(named.only)
    else:
        yield from _serve_project(named.path, progress)


def _published(named: Published) -> Target:
    if named.origin == HOST_ORIGIN:
        raise BridgeError(f"{named.origin} is the bridge's own origin: give the address of a server.")

    def checked() -> str:
        from mcpframe.kit.bridge.bridgeable import check_published

        with suppress(NoFramedServer):  # the browser reports the reason itself
            check_published(named.url, HOST_ORIGIN)
        return named.url

    return Target(named.url, {}, checked)


def _serve_built(bundle: Path) -> Iterator[Target]:
    from mcpframe.kit.web.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    server_manifest(bundle)
    name = host_name(bundle)
    with serve_app(BundleSite.of(bundle, readers=(), guests=[HOST_ORIGIN])) as served:
        yield Target(str(bundle), {name: served.port}, lambda: f"http://{name}/{quote(bundle.name)}/")


def _serve_project(path: Path, progress: Progress) -> Iterator[Target]:
    from starlette.responses import PlainTextResponse

    from mcpframe.kit.web.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    name = host_name(path)
    out = cache_dir() / "bridge" / name.partition(".")[0]
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    sites: list[BundleSite] = []

    async def built(scope: Scope, receive: Receive, send: Send) -> None:
        site = sites[-1] if sites else PlainTextResponse("Not built yet", 404)
        await site(scope, receive, send)

    def find() -> str:
        from mcpframe.kit.bundle import build

        find_server(path)
        result = build(path, out, allowed_origins=[HOST_ORIGIN], dialects=[dialect().name], progress=progress)
        sites[:] = [BundleSite.of(result.folder, readers=())]
        return f"http://{name}/{quote(result.url_path.lstrip('/'))}"

    with serve_app(built) as served:
        yield Target(str(path), {name: served.port}, find)


def host_name(path: Path) -> str:
    """Return the host name of a folder's server, which is independent of its port: pages store data by origin."""
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{slug(path.stem)}-{digest}.mcpframe.localhost"


def slug(text: str) -> str:
    """Return a short name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:32] or "server"
