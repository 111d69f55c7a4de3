"""Static hosts, with what an author does there."""

from __future__ import annotations

from docs.generate.docstrings import table
from mcpframe.kit.static_hosts.known import STATIC_HOSTS


def static_hosts(_: str) -> str:
    """Return a table: hosts, and what to do there."""
    rows = []
    for host in STATIC_HOSTS:
        limit = f"; {host.most_rules} rules at most, which a build counts" if host.most_rules else ""
        rows.append([host.title, host.to_do + limit])
    return table(["host", "what to do"], rows)
