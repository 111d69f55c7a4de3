"""Writes the generated parts of the pages in `docs`, and of the README.

    python3 build.py docs            write them, and build the site
    python3 build.py docs --check    report stale ones, and build the site

A generated part stands between two comments, which neither a code host nor the site shows; the first one says what to
generate, the second ends it:

    <!-- generated: NAME ARGUMENTS -->
    ...
    <!-- end generated -->

The protocol's parts are drawn from the tables that the connections follow, and from connections that are made to follow
them; those about errors and configuration from docstrings; the commands from their `--help`. Examples are the files
that the tests run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from docs.generate import (
    client_rules,
    commands,
    configuration,
    errors,
    hosts,
    limits,
    messages,
    outcomes,
    plain_python,
    proofs,
    protocol,
    python,
    rooms,
    static_hosts,
)
from mcpframe.frame.dialects.available import spoken_names

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
EXAMPLES = DOCS / "examples"

_PART = re.compile(r"<!-- generated: (?P<what>[^\n]*?) -->\n.*?<!-- end generated -->\n", re.DOTALL)
_LANGUAGES = {
    ".cfg": "text",
    ".py": "python",
    ".toml": "toml",
    ".js": "js",
    ".ts": "ts",
    ".html": "html",
    ".css": "css",
}


class UnknownPart(Exception):
    """A page names a part that does not exist."""


def pages() -> list[Path]:
    """Return the files that may have generated parts."""
    return [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if EXAMPLES not in path.parents)]


def stale_pages(*, write: bool = False) -> list[Path]:
    """Return the pages with stale parts; update them on request."""
    found = []
    for path in pages():
        text = path.read_text("utf-8")
        new = rendered(text)
        if new != text:
            found.append(path)
            if write:
                path.write_text(new, "utf-8")
    return found


def rendered(text: str) -> str:
    """Return a page's text with its generated parts updated.

    Raises:
        UnknownPart: It names a part that does not exist.
    """
    return _PART.sub(lambda part: _part(part["what"]), text)


def _part(what: str) -> str:
    name, _, arguments = what.partition(" ")
    if name not in _GENERATORS:
        raise UnknownPart(f"There is nothing called {name!r}; there are: {', '.join(_GENERATORS)}.")
    return f"<!-- generated: {what} -->\n\n{_GENERATORS[name](arguments).strip()}\n\n<!-- end generated -->\n"


def example(arguments: str) -> str:
    """Return a file as a fenced block; or a part of it, from the line that begins with a text to the end of its block.

    Args:
        arguments: The path below the repository; then, for a part, the text.

    Raises:
        UnknownPart: There is no such file, or no such line in it.
    """
    name, _, start = arguments.partition(" ")
    path = ROOT / name
    if not path.is_file():
        raise UnknownPart(f"There is no example {name}.")
    lines = path.read_text("utf-8").splitlines()
    if start:
        begin = next((number for number, line in enumerate(lines) if line.startswith(start)), None)
        if begin is None:
            raise UnknownPart(f"The example {name} has no line that begins with {start!r}.")
        end = begin + 1
        while end < len(lines) and not (lines[end - 1] == "" and lines[end][:1].strip()):
            end += 1
        lines = lines[begin:end]
    text = "\n".join(lines).rstrip()
    return f"```{_LANGUAGES[path.suffix]}\n{text}\n```"


def _of_dialect(module: str, name: str, sep: Callable[[str], str] | None = None) -> Callable[[str], str]:
    """Return a generator for the SEP, and one for the dialect that its first argument names.

    Args:
        module: The module of the latter, imported when it is needed: it imports every dialect.
        name: Its function there.
        sep: The generator for the SEP; None for none.
    """

    def generate(arguments: str) -> str:
        first, _, rest = arguments.partition(" ")
        if sep is not None and first not in spoken_names():
            return sep(arguments)
        text: str = getattr(import_module(f"docs.generate.{module}"), name)(*filter(None, (first, rest)))
        return text

    return generate


_GENERATORS: dict[str, Callable[[str], str]] = {
    "example": example,
    "claims": proofs.claims,
    "client-rules": client_rules.rules,
    "commands": commands.reference,
    "configuration": configuration.table,
    "deadlines": protocol.deadlines,
    "diagram": _of_dialect("dialects", "diagram", protocol.diagram),
    "errors": errors.table,
    "events": protocol.events,
    "fields": messages.fields,
    "hosts": hosts.hosts,
    "limits": limits.table,
    "names": python.names,
    "messages": _of_dialect("dialects", "messages", outcomes.messages),
    "proofs": proofs.proofs,
    "refusals": outcomes.refusals,
    "rooms": rooms.rooms,
    "static-hosts": static_hosts.static_hosts,
    "plain-python": plain_python.differences,
    "sent": _of_dialect("dialect_talk", "sent"),
    "sequence": _of_dialect("dialect_talk", "sequence", messages.sequence),
    "states": _of_dialect("dialects", "states", protocol.states),
    "tree": errors.tree,
    "works-in": hosts.works_in,
    "transitions": _of_dialect("dialects", "transitions", protocol.transitions),
}
