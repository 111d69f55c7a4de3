"""A plain folder, for any web server: nothing is written, and the folder is checked."""

from __future__ import annotations

from mcpframe.kit.publish.targets.deployment import Deployment, PublishTarget
from mcpframe.kit.static_hosts.known import HEADER_FILES
from mcpframe.kit.static_hosts.static_host import StaticHost


def _steps(site: Deployment) -> tuple[str, ...]:
    return (f"copy {site.out} below any address; for its headers, use one of {', '.join(HEADER_FILES)}",)


def _remarks(_: Deployment) -> tuple[str, ...]:
    return ("a web server that compresses by itself, or sends the .gz files, costs less",)


FOLDER = PublishTarget("folder", StaticHost("a folder", "", compresses=frozenset()), _steps, remarks=_remarks)
