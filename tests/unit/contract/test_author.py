"""The contract of an author's functions in a frame, with server objects of mcp 2.x."""

from __future__ import annotations

import pytest

from tests.support.author_contract import *  # noqa: F403
from tests.support.page_rig import Rig, rig
from tests.support.server_kinds import FRAME_SERVER

__all__ = ["rig"]


@pytest.fixture(autouse=True, params=[FRAME_SERVER, "mcp 2.x"])
def kind(request: pytest.FixtureRequest, rig: Rig) -> None:
    rig.kind = request.param
