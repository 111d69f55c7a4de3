"""A bridge over HTTP in this process, and its client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.support.bridged import PATIENCE, HttpBridge, Place, http_bridge


@pytest.fixture
def place() -> Place:
    """The pages of the bridge."""
    return Place()


@pytest.fixture
def edge() -> dict[str, Any]:
    """The options of the bridge: those of `EdgeOptions`."""
    return {}


@pytest.fixture
async def bridge(place: Place, edge: dict[str, Any]) -> AsyncIterator[HttpBridge]:
    """The bridge."""
    async with asyncio.timeout(PATIENCE * 3), http_bridge(place.open_page, **edge) as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    """A client."""
    async with asyncio.timeout(PATIENCE * 3), httpx2.AsyncClient(timeout=PATIENCE) as client:
        yield client
