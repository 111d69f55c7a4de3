"""The fixtures of `tests/browser` that the contract's tests use, without a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.browser.conftest import Origins
from tests.contract.fake_outer import FakeOuter


@pytest.fixture
def origins() -> Origins:
    """The three origins; nothing is served there."""
    return Origins(8000)


@pytest.fixture
async def outer() -> AsyncIterator[FakeOuter]:
    """The connection in CPython over a fake window."""
    async with FakeOuter() as outer:
        yield outer
