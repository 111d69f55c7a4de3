"""The header rules of an output root, from which the file for each static host is written.

All origins may read the files, as the origin of a page in a sandboxed frame is opaque.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

Pages = Mapping[str, Mapping[str, str]]
"""The headers of each bundle's folder, by its name."""

IMMUTABLE = "public, max-age=31536000, immutable"
FRESH = "no-cache"

HASHED = ("server.*", "snapshot.*", "packages/**", "assets-*/**")
"""The files of a bundle with a hash in their names, to be cached for ever; `*` stays within a folder."""
HASHED_PREFIXES = tuple(pattern.partition("*")[0] for pattern in HASHED)

TYPES = {
    "js": "text/javascript",
    "mjs": "text/javascript",
    "wasm": "application/wasm",
    "zip": "application/zip",
    "whl": "application/zip",
    "json": "application/json",
    "css": "text/css",
}
"""The media types that some hosts do not know, by the ending of a file's name."""

EVERYWHERE = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""The headers of every file."""
# Only denies features that no framing page grants; grantable ones stay possible.
_PERMISSIONS = "browsing-topics=(), interest-cohort=()"

SANDBOX = "/_mcpframe/sandbox."
"""The beginning of the sandbox proxy's path."""
SANDBOX_HEADERS = {"Connection-Allowlist": '("*://*:*");redirects=allow;webrtc=block'}
"""Headers of the sandbox proxy. Its views inherit them: any URL, as their policy limits those, and no WebRTC."""


def pages_of(policies: Mapping[str, str], trials: Mapping[str, Sequence[str]] | None = None) -> Pages:
    """Return the headers of each bundle's folder.

    Args:
        policies: The Content-Security-Policy of each, with frame-ancestors.
        trials: The tokens of origin trials of those that have some.
    """
    pages = {}
    for name, policy in sorted(policies.items()):
        pages[name] = {"Content-Security-Policy": policy, "Permissions-Policy": _PERMISSIONS}
        if tokens := (trials or {}).get(name):
            pages[name]["Origin-Trial"] = ", ".join(tokens)
    return pages


def hashed_of(name: str) -> str:
    """Return a regular expression for a bundle's paths with a hash."""
    return f"/{re.escape(name)}/({'|'.join(map(re.escape, HASHED_PREFIXES))})"


def quoted(value: str) -> str:
    """Return a value as a quoted text of Apache and nginx."""
    escaped = value.replace('"', '\\"')
    return f'"{escaped}"'


def json_text(value: object) -> str:
    """Return the text of a configuration file in JSON."""
    return json.dumps(value, indent=2) + "\n"


def source_rules(
    pages: Pages, *, everything: str, below: str, start: str, hashed: Sequence[str]
) -> list[dict[str, object]]:
    """Return the rules of a host that matches a `source`; a later one takes precedence.

    Args:
        everything: The pattern of all files.
        below: The pattern of all files below a folder, after its path.
        start: The pattern of the rest of a file's name.
        hashed: The patterns of a bundle's files that are cached for ever.
    """

    def rule(source: str, headers: Mapping[str, str]) -> dict[str, object]:
        return {"source": source, "headers": [{"key": key, "value": value} for key, value in headers.items()]}

    rules = [
        rule(everything, {**EVERYWHERE, "Cache-Control": FRESH}),
        rule(f"/_mcpframe/{below}", {"Cache-Control": IMMUTABLE}),
        rule(f"{SANDBOX}{start}", SANDBOX_HEADERS),
    ]
    for name, headers in pages.items():
        rules.append(rule(f"/{name}/{below}", headers))
        rules += [rule(f"/{name}/{pattern}", {"Cache-Control": IMMUTABLE}) for pattern in hashed]
    return rules
