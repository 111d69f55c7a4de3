"""A small soak of a bridge on browsers that are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.browsers import BrowsersBounds, soak_browsers


@pytest.mark.extended
async def test_only_what_a_killed_browser_held_is_lost(tmp_path: Path) -> None:
    tally = await soak_browsers(tmp_path, BrowsersBounds(40, sessions=6, live=3, browsers=2), seed=11)
    assert [problem for problem in tally.problems if not problem.startswith("failed: the bridge has grown")] == []
    assert tally.measured["browsers killed"] >= 2
    assert tally.done["called"]
