"""The script of the pinned Pyodide."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.patches import SCRIPT
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime


@pytest.fixture(scope="session")
def script() -> bytes:
    return (ensure_runtime().folder / SCRIPT).read_bytes()
