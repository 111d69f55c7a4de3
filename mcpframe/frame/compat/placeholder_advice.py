"""The packages that a bundle leaves out. The build writes this file: see `advice` in `special_packages`."""

from __future__ import annotations

from typing import Final

MODULES: Final[dict[str, tuple[str, str]]] = {}
"""The package of each module, and advice for a page that uses it."""
