"""What every suite needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Pyodide has asyncio and nothing else, so that is what is tested."""
    return "asyncio"


_MATRIX = ("test_contract_", "test_matrix")


# Here and not in browser/: of tests in several processes, the one that reports reads this file only.
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many lines of the matrix of bad input and attacks have held; a test may hold several."""
    held = [
        dict(report.user_properties).get("lines", 1)
        for report in terminalreporter.stats.get("passed", [])
        if report.when == "call" and Path(report.fspath).name.startswith(_MATRIX)
    ]
    if held:
        terminalreporter.write_line(f"bad input and attacks: {sum(held)} lines held, in {len(held)} tests")
