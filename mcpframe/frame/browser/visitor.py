"""The surroundings of the browser's user."""

from __future__ import annotations

import js

BUNDLED_WITH = ("world",)


def time_zone() -> str:
    """Return the name of the time zone, as the IANA database has it; empty where the browser hides it."""
    return str(js.Intl.DateTimeFormat().resolvedOptions().timeZone or "")
