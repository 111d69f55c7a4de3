"""Fixtures of the tests of `mcpframe serve --python`: real processes, and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.postgresql import postgresql
from tests.support.settling import USUAL


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return USUAL


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """The address of a database."""
    with postgresql() as address:
        yield address
