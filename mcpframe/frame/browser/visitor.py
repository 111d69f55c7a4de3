"""The surroundings of the browser's user."""

from __future__ import annotations

import js

BUNDLED_WITH = ("world",)


def time_zone() -> str:
    """Return the IANA name of the time zone; empty if the browser hides it."""
    return str(js.Intl.DateTimeFormat().resolvedOptions().timeZone or "")
