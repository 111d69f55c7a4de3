"""The hub's tests move time and messages by hand, and wait until the loop has nothing left to run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.settling import SETTLING


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return SETTLING
