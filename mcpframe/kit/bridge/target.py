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
from mcpframe.frame.places import parse_address
from mcpframe.kit.base.cache import cache_dir, writing
from mcpframe.kit.base.errors import BridgeError, NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bridge.tab import HOST_ORIGIN
from mcpframe.kit.project.project import find_project, is_there

_PROJECTS = (".py", ".toml")

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
        where: an address of http or https, a built bundle's folder, or what `mcpframe build` takes.
        progress: called with a line of text about each step of a build.

    Raises:
        OriginError: an address that cannot be framed.
        BridgeError: there is no such folder, or it was built for other hosts.
    """
    if re.match(r"https?:", where, re.IGNORECASE):
        url, origin = parse_address(where)
        if origin == HOST_ORIGIN:
            raise BridgeError(f"{origin} is the bridge's own origin: give the address of a server.")

        def checked() -> str:
            from mcpframe.kit.bridge.bridgeable import check_published

            with suppress(NoFramedServer):  # the browser reports the reason itself
                check_published(url, HOST_ORIGIN)
            return url

        yield Target(url, {}, checked)
        return
    path = Path(where).expanduser().absolute()
    if not where or not is_there(path):
        raise BridgeError(f"{where!r} is neither an address (https://…) nor a folder or file on this machine.")
    yield from _serve_built(path) if _is_built(path) else _serve_project(path, progress)


def _is_built(path: Path) -> bool:
    return (path / "manifest.json").is_file() and (path / "index.html").is_file()


def _serve_built(path: Path) -> Iterator[Target]:
    from mcpframe.kit.bridge.bridgeable import check_built
    from mcpframe.kit.web.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    check_built(path, HOST_ORIGIN)
    name = host_name(path)
    folder = path.resolve()
    with serve_app(BundleSite.of(folder, readers=())) as served:
        yield Target(str(path), {name: served.port}, lambda: f"http://{name}/{quote(folder.name)}/")


def _serve_project(path: Path, progress: Progress) -> Iterator[Target]:
    from starlette.responses import PlainTextResponse

    from mcpframe.kit.web.bundle_site import BundleSite
    from mcpframe.kit.web.serve import serve_app

    if not any((path / name).is_file() for name in ("pyproject.toml", "server.py")) and path.suffix not in _PROJECTS:
        find_project(path)  # raises if there is none; errors in one may still be corrected later
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
