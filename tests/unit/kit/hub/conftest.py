"""The event loop of the hub's tests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.settling import SETTLING


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return SETTLING
