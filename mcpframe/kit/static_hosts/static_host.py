"""A static host: its configuration file, what it can send, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcpframe.kit.static_hosts.rules import Pages

TEXTS = frozenset({"html", "js", "mjs", "json", "css", "svg", "txt", "wasm"})
"""Types of files that hosts compress: texts and WebAssembly, but no archives or unknown types."""


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
        most_file_bytes: The size of the largest file that it takes; None for no limit.
        most_files: How many files a site may have; None for no limit.
        most_bytes: The size of the largest site; None for no limit.
        compresses: The endings of the names of files that it compresses; None if it sends the `.gz` files of a build,
            or if that is not known.
        domains: The ends of the names of its sites' machines, by which it is recognized.
        server: The beginning of its `Server` header, by which it is recognized elsewhere; empty if others have it.
        kept: The seconds for which browsers keep a file, where a site cannot choose that; None if it can.
    """

    title: str
    to_do: str
    files: tuple[str, ...] = ()
    text: Callable[[Pages], str] = _empty
    sends_headers: bool = True
    most_rules: int | None = None
    most_file_bytes: int | None = None
    most_files: int | None = None
    most_bytes: int | None = None
    compresses: frozenset[str] | None = None
    kept: int | None = None
    domains: tuple[str, ...] = ()
    server: str = ""
