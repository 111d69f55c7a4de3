"""What every suite needs."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Pyodide has asyncio and nothing else, so that is what is tested."""
    return "asyncio"
