"""Adds hosts to the page of a built bundle while it is served: its boot config, its inbox, and its frame-ancestors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from mcpframe.frame.core.allowed_origins import ANY
from mcpframe.kit.bundle.assembly.index_page import script_json

_BOOT, _INBOX = "mcpframe-boot", "mcpframe-inbox"
_ANCESTORS = re.compile(r"(frame-ancestors )([^;]*)")


def with_guests(page: str, guests: Sequence[str]) -> str:
    """Return a bundle's page with more origins in each of its lists of hosts.

    A list with `*` is unchanged, and so is an empty one unless opaque origins are allowed: it belongs to a dialect that
    the bundle does not offer.

    Args:
        page: The text of its index.html.
    """

    def more(listed: list[str], *, opaque: bool = False) -> list[str]:
        return list(dict.fromkeys([*listed, *guests])) if (listed or opaque) and ANY not in listed else listed

    def boot(data: dict[str, Any]) -> dict[str, Any]:
        opaque = bool(data.get("options", {}).get("allow_opaque"))
        own = {name: more(listed) for name, listed in data.get("dialect_origins", {}).items()}
        named = {"dialect_origins": own} if own else {}
        return {**data, "allowed_origins": more(data["allowed_origins"], opaque=opaque), **named}

    def named(phase: dict[str, Any]) -> dict[str, Any]:
        view = phase.get("standIn")
        its_view = {"standIn": {**view, "hosts": more(view["hosts"])}} if view else {}
        return {**phase, "hosts": more(phase["hosts"]), **its_view}

    def inbox(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "phases": [named(phase) for phase in data["phases"]]}

    return _changed(_changed(page, _BOOT, boot), _INBOX, inbox)


def with_ancestors(policy: str, guests: Sequence[str]) -> str:
    """Return a Content-Security-Policy whose frame-ancestors, if it has any, include these origins."""

    def more(found: re.Match[str]) -> str:
        listed = found[2].split()
        return found[1] + " ".join(listed if ANY in listed else [*listed, *guests])

    return _ANCESTORS.sub(more, policy)


def _changed(page: str, element: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """Return a page with the data of a script element changed; unchanged if it has no such data."""
    match = re.search(rf'(<script type="application/json" id="{element}">)(.*?)(</script>)', page, re.DOTALL)
    if match is None:
        return page
    try:
        changed = change(json.loads(match[2]))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):  # not a page of mcpframe's
        return page
    return page[: match.start(2)] + script_json(changed) + page[match.end(2) :]
