"""The contract's fixtures without a browser: test bodies of `tests/browser` run with these instead of theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.unit.contract.fake_outer import HOST, FakeOuter


@dataclass(frozen=True)
class FakeOrigins:
    """Origins of pages that nobody serves."""

    bundle: str = "http://bundle.localhost:1"
    neighbour: str = "http://neighbour.host.localhost:1"
    host: str = HOST
    stranger: str = "http://stranger.localhost:1"


@pytest.fixture
def origins() -> FakeOrigins:
    """The three origins."""
    return FakeOrigins()


@pytest.fixture
async def outer() -> AsyncIterator[FakeOuter]:
    """The outer frame over fake windows."""
    async with FakeOuter() as outer:
        yield outer
