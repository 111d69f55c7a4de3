"""The target of a command: an address, or a folder of this machine, which is served while the command runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcpframe.kit.base.progress import Progress


def is_address(target: str) -> bool:
    """Return whether a target is an address, not a path."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", target) is not None


@contextmanager
def addressed(target: str, *, port: int = 0, pages: bool = False, progress: Progress) -> Iterator[str]:
    """Return the address of a target; a folder or project is served for the duration of the block.

    Args:
        target: An address, a bundle's folder, a folder with one bundle, or a project, which is built into the cache.
        port: The port at which it is served, if that is free; 0 for any.
        pages: Whether it may be a page that is no server.
        progress: Reports the steps of a build.

    Raises:
        ConfigError: There is nothing of this kind at the path, or more than one bundle; or it is a page, not a server.
        KitError: The project cannot be built.
    """
    if is_address(target):
        yield target
        return
    from mcpframe.kit.base.errors import ConfigError
    from mcpframe.kit.project.project import is_there
    from mcpframe.kit.publish.checks import served_bundles
    from mcpframe.kit.web.published import read_manifest

    path = Path(target)
    if not target or not is_there(path):
        raise ConfigError(f"{target!r} is neither an address (https://…) nor a folder or file on this machine.")
    with served_bundles(path, port=port, pages=pages, progress=progress) as urls:
        if len(urls) > 1:
            names = ", ".join(sorted(url.rstrip("/").rpartition("/")[2] for url in urls))
            raise ConfigError(f"{target} has more than one bundle: give the folder of one of {names}.")
        manifest = read_manifest(urls[0]) or {}
        if manifest.get("kind") == "page" and not pages:
            raise ConfigError(f"{target} is a page, not a server: build it, and open it with mcpframe serve.")
        yield urls[0]
