"""The extras of the distribution: what a command needs besides the packages that every installation has.

Who only uses servers installs none of them. A command that needs one says so before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal

from mcpframe.kit.base.errors import ExtraMissing

Extra = Literal["author", "test", "server", "public", "metrics"]

MODULES: Mapping[Extra, tuple[str, ...]] = {
    "author": ("jinja2", "packaging", "pip", "uv", "watchfiles"),
    "test": ("playwright", "pytest"),
    "server": ("aiosqlite", "psycopg", "sqlalchemy"),
    "public": ("jwt", "limits"),
    "metrics": ("prometheus_client",),
}
"""A module of each package of an extra, by which it is recognized. zstd is part of Python from 3.14 on."""


def need(extra: Extra, what: str) -> None:
    """Check that an extra is installed.

    Args:
        what: What needs it, as the subject of a sentence.

    Raises:
        ExtraMissing: It is not; the message has the command that installs it.
    """
    if any(find_spec(module) is None for module in MODULES[extra]):
        requirement = f'"mcpframe[{extra}]"'
        ways = f"run `pip install {requirement}`, or begin the command with `uvx --from {requirement} mcpframe`"
        raise ExtraMissing(f"{what} needs the extra {extra!r}: {ways}.")
