"""A `_headers` file, in the format that Netlify and Cloudflare Pages share: written by a build, and read by `serve`.

A line without indentation is a path pattern; the indented `Name: value` lines below it are its headers. `*` stands for
any text, `:name` for one path segment. All rules that match a path apply, in order; a header that is set twice gets
both values, joined by a comma; `! Name` removes a header (Cloudflare). `#` starts a comment line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.static_hosts.rules import (
    EVERYWHERE,
    FRESH,
    HASHED_PREFIXES,
    IMMUTABLE,
    SANDBOX,
    SANDBOX_HEADERS,
    Pages,
)

_ANY = "/:bundle"
"""The folder of any bundle: rules of each would exceed what a host reads, with few bundles."""


def headers_text(pages: Pages) -> str:
    """Return the text of the file for an output root."""
    lines = ["# Netlify, Cloudflare Pages. Written by mcpframe."]
    lines += ["/*", *(f"  {name}: {value}" for name, value in EVERYWHERE.items())]
    lines += ["/_mcpframe/*", f"  Cache-Control: {IMMUTABLE}"]
    lines += [f"{SANDBOX}*", *(f"  {name}: {value}" for name, value in SANDBOX_HEADERS.items())]
    for file in ("", "index.html", "manifest.json", "app.html", "app-inline.html", "app-inline.js"):
        lines += [f"{_ANY}/{file}", f"  Cache-Control: {FRESH}"]
    for prefix in HASHED_PREFIXES:
        lines += [f"{_ANY}/{prefix}*", f"  Cache-Control: {IMMUTABLE}"]
    for name, headers in pages.items():
        lines += [f"/{name}/*", *(f"  {header}: {value}" for header, value in headers.items())]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class HeaderRule:
    """One pattern with its headers.

    Attributes:
        pattern: Matches the whole path.
        headers: Names (as written) and values, in order; the value is None if the header is removed.
    """

    pattern: re.Pattern[str]
    headers: tuple[tuple[str, str | None], ...]


def parse(text: str) -> list[HeaderRule]:
    """Read the text of a `_headers` file.

    Raises:
        ServeError: A line is neither a pattern nor a header below one; the message has its number.
    """
    rules: list[tuple[re.Pattern[str], list[tuple[str, str | None]]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if not line[0].isspace():
            rules.append((_pattern(stripped), []))
            continue
        name, colon, value = stripped.partition(":")
        if rules and stripped.startswith("!"):
            rules[-1][1].append((stripped[1:].strip(), None))
        elif rules and colon and name.strip():
            rules[-1][1].append((name.strip(), value.strip()))
        else:
            raise ServeError(
                f"_headers, line {number}: expected an indented `Name: value` below a path, found {stripped!r}."
            )
    return [HeaderRule(pattern, tuple(headers)) for pattern, headers in rules]


def headers_for(path: str, rules: list[HeaderRule]) -> dict[str, str]:
    """Return the headers that the rules set for the path of a URL, by lower-case name."""
    headers: dict[str, str] = {}
    for rule in rules:
        if not rule.pattern.fullmatch(path):
            continue
        for name, value in rule.headers:
            key = name.lower()
            if value is None:
                headers.pop(key, None)
            else:
                headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def _pattern(written: str) -> re.Pattern[str]:
    parts = re.split(r"(\*|:[A-Za-z]\w*)", written)
    return re.compile(
        "".join(".*" if part == "*" else "[^/]+" if part[:1] == ":" else re.escape(part) for part in parts)
    )
