"""A static host: its configuration file, what it can send, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcpframe.kit.static_hosts.rules import Pages


def _empty(_: Pages) -> str:
    return ""


@dataclass(frozen=True)
class StaticHost:
    """A static host.

    Attributes:
        title: Its name.
        to_do: What an author does there, for the documentation.
        files: The files in the root of a site that it reads and does not serve. A build writes the first one.
        text: Returns the text of that file.
        sends_headers: Whether a site can choose the headers.
        most_rules: How many rules of its file it reads; None for no limit.
    """

    title: str
    to_do: str
    files: tuple[str, ...] = ()
    text: Callable[[Pages], str] = _empty
    sends_headers: bool = True
    most_rules: int | None = None
