"""The results of tools: the contract's tests, with servers of the SDK of this repository."""

from __future__ import annotations

import pytest

from tests.support.page_rig import Rig, rig
from tests.support.result_contract import *  # noqa: F403
from tests.support.server_kinds import FRAME_SERVER

__all__ = ["rig"]


@pytest.fixture(autouse=True)
def kind(rig: Rig) -> None:
    rig.kind = FRAME_SERVER
