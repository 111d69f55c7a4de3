"""The Content Security Policy of a bundle's page, for the page itself (kit/bundle/assembly/csp.py) and for its view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Sources = Mapping[str, Sequence[str]]
"""The sources of a Content Security Policy, by directive."""

_NONE: Final = ("'none'",)


def page_directives(own: str, sources: Sources) -> dict[str, list[str]]:
    """Return the policy of a bundle's page, by directive; for `policy_text`.

    Args:
        own: The source of the bundle's files: its origin, or `'self'`.
        sources: What the page may use besides them, by directive.
    """
    directives: dict[str, list[str]] = {
        "default-src": [],
        "script-src": [own, "'wasm-unsafe-eval'"],
        "style-src": [own],
        "connect-src": [own],
        "img-src": [own, "data:", "blob:"],
        "font-src": [own],
        "media-src": [own, "data:", "blob:"],
        "frame-src": [],
        "worker-src": [],
        "base-uri": [],
        "form-action": [],
    }
    for name, more in sources.items():
        directives[name] += more
    return directives


def policy_text(directives: Mapping[str, Sequence[str]]) -> str:
    """Return a Content Security Policy. A directive without sources allows none."""
    return "; ".join(f"{name} {' '.join(dict.fromkeys(each or _NONE))}" for name, each in directives.items())
