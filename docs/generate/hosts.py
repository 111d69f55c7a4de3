"""The hosts of one and the same bundle: the table that `tests/browser/test_known_hosts.py` tests."""

from __future__ import annotations

from docs.generate.docstrings import table
from tests.support.known_hosts import HOSTS, Host

_NONE = "no"
_HEAD = [
    "host",
    "dialect",
    "tools",
    "resources, prompts",
    "progress",
    "cancelling",
    "changed lists",
    "setup",
    "kept values belong to the",
    "shows the page",
    "messages of the page",
    "in `allowed_origins`",
]


def hosts(_: str) -> str:
    """Return a table: hosts, and what each can do."""
    return table(_HEAD, [_row(host) for host in HOSTS])


def works_in(_: str) -> str:
    """Return the hosts as a list, one for each line of the table."""
    return "\n".join(f"- {host.title}" for host in HOSTS)


def _row(host: Host) -> list[str]:
    return [
        host.title,
        f"`{host.dialect}`",
        _mark(host.tools),
        _mark(host.lists),
        _mark(host.progress),
        _mark(host.cancels),
        _mark(host.notified),
        _mark(host.setup),
        host.values or _NONE,
        _mark(host.page),
        host.conversation or _NONE,
        host.configured or "nothing",
    ]


def _mark(can: bool) -> str:
    return "yes" if can else _NONE
