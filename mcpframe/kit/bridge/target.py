"""What is bridged: a published address, a folder that was built, or a project that is built now."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpframe.frame.origins import ANY
from mcpframe.frame.places import parse_address
from mcpframe.kit.bridge.page import HOST_ORIGIN
from mcpframe.kit.cache import cache_dir, writing
from mcpframe.kit.errors import BridgeError
from mcpframe.kit.progress import Progress, silent

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


@dataclass(frozen=True)
class Target:
    """A server to frame.

    Attributes:
        key: what it is known by, the same every time.
        addresses: host names that are served here, each with its port.
        find: gives its address; it may build for a while first, and raise any KitError.
    """

    key: str
    addresses: dict[str, int]
    find: Callable[[], str]


@contextmanager
def open_target(where: str, *, progress: Progress = silent) -> Iterator[Target]:
    """Find out what `where` is, and serve it for as long as the block lasts where it is a folder.

    Args:
        where: an address of http or https, a built bundle's folder, or what `mcpframe build` takes.
        progress: told about the steps of a build.

    Raises:
        OriginError: an address that cannot be framed.
        BridgeError: there is no such folder, or it is built for other hosts.
    """
    if re.match(r"https?:", where, re.IGNORECASE):
        url, origin = parse_address(where)
        if origin == HOST_ORIGIN:
            raise BridgeError(f"{origin} is the bridge's own origin: give the address of a server.")
        yield Target(url, {}, lambda: url)
        return
    path = Path(where).expanduser().absolute()
    if not path.exists():
        raise BridgeError(f"{where!r} is neither an address (https://…) nor a folder or file on this machine.")
    yield from _serve_built(path) if _is_built(path) else _serve_project(path, progress)


def _is_built(path: Path) -> bool:
    return (path / "manifest.json").is_file() and (path / "index.html").is_file()


def _serve_built(path: Path) -> Iterator[Target]:
    from mcpframe.kit.bundle_site import BundleSite
    from mcpframe.kit.serve import serve_app

    allowed = _allowed_origins(path)
    if ANY not in allowed and HOST_ORIGIN not in allowed:
        raise BridgeError(
            f"{path} was built for other hosts: give the project's own folder, or build it with "
            f"--allow-origin {HOST_ORIGIN} as well."
        )
    name = host_name(path)
    folder = path.resolve()
    with serve_app(BundleSite.of(folder)) as served:
        yield Target(str(path), {name: served.port}, lambda: f"http://{name}/{quote(folder.name)}/")


def _allowed_origins(bundle: Path) -> list[Any]:
    try:
        manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
        allowed = manifest["allowed_origins"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        allowed = None
    if not isinstance(allowed, list):
        raise BridgeError(f"{bundle / 'manifest.json'} is not the manifest of a bundle: build the project again.")
    return allowed


def _serve_project(path: Path, progress: Progress) -> Iterator[Target]:
    from starlette.responses import PlainTextResponse

    from mcpframe.kit.bundle_site import BundleSite
    from mcpframe.kit.serve import serve_app

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

        result = build(path, out, allowed_origins=[HOST_ORIGIN], progress=progress)
        sites[:] = [BundleSite.of(result.folder)]
        return f"http://{name}/{quote(result.url_path.lstrip('/'))}"

    with serve_app(built) as served:
        yield Target(str(path), {name: served.port}, find)


def host_name(path: Path) -> str:
    """The host name that a folder's server has in the bridge, whatever port it is served on: pages store by origin."""
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{slug(path.stem)}-{digest}.mcpframe.localhost"


def slug(text: str) -> str:
    """A short name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:32] or "server"
