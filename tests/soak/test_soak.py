"""A small soak, with the real SDK's server in this process where pages would be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.soak.workload import Bounds, soak
from tests.support.bridged import Place, http_bridge

CALLS = 400


@pytest.mark.extended
async def test_nothing_is_left_of_clients_that_leave_cancel_and_lie(tmp_path: Path) -> None:
    place = Place()
    stdio = [sys.executable, "-m", "tests.soak.stdio_bridge"]
    async with http_bridge(place.open_page) as bridge:
        tally = await soak(bridge, stdio, tmp_path, Bounds(CALLS, seconds=120), seed=11)
    assert tally.problems == []
    assert all(page.closed for page in place.pages)
    kinds = ["modern, answered", "modern, cancelled", "legacy, answered", "legacy, cancelled", "stateless, left"]
    kinds += ["stateless, lying", "legacy, lying", "stdio, answered", "stdio, lying"]
    assert [kind for kind in kinds if not tally.done[kind]] == []
