"""Static facts about a package: what a page lacks of what it uses, its hosts, its variables."""

from __future__ import annotations

from dataclasses import replace

from mcpframe.kit.base.progress import count
from mcpframe.kit.bundle.assembly.features import HTTP_PACKAGES, uses_http
from mcpframe.kit.bundle.code.code_limits import Outlook, look_at
from mcpframe.kit.bundle.packages.compile_layers import base_packages
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.wheels import wheel_path
from mcpframe.kit.bundle.pyodide.archive import unpack, unpacking
from mcpframe.kit.project.pyproject import MOST_UNPACKED

_SDKS = frozenset({"fastmcp", "fastmcp-slim"})


def outlook_of(name: str, lock: Lock) -> Outlook | None:
    """Return the outlook of a package; None if it has no wheel.

    Args:
        name: The package, normalized.
        lock: The lock of its project, whose wheels are in the cache.

    Returns:
        The outlook; `other_hosts` are those of its requirements that make requests themselves, as the client of a
        service does. The SDK and HTTP libraries reach what they are told to.
    """
    no_hints = base_packages(lock) | _SDKS | HTTP_PACKAGES
    near = [
        item for item in lock.packages if name == item.name or (name in item.required_by and item.name not in no_hints)
    ]
    if name not in {item.name for item in near}:
        return None
    hosts: set[str] = set()
    outlook: Outlook | None = None
    with unpacking(MOST_UNPACKED):  # the build has checked them
        for done, item in enumerate(near):
            count(done, len(near))
            files = unpack(wheel_path(item))
            if item.name == name:
                outlook = look_at(files)
            elif uses_http(files):
                hosts |= set(look_at(files).hosts)
    return outlook and replace(outlook, other_hosts=tuple(sorted(hosts - set(outlook.hosts))))
