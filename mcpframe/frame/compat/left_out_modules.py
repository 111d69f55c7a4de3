"""The modules of packages that the author leaves out of the bundle. The build writes this file for each bundle."""

from __future__ import annotations

from typing import Final

MODULES: Final[dict[str, str]] = {}
"""The package of each module."""
