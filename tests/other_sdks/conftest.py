"""What lies in `inside` is collected by runs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    inside = Path(__file__).parent / "inside"
    is_inside = inside in (collection_path, *collection_path.parents)
    return True if is_inside and config.inipath != inside / "pytest.ini" else None
