"""The inspector's modules are imported as they are in its bundle: its folder is the root."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[3] / "static" / "inspector")

if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
