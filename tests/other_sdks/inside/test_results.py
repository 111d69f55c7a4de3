"""The results of tools: the contract's tests, with wrapped servers of the SDK that is here."""

from __future__ import annotations

from importlib import import_module

import pytest

from mcpframe.frame.compat import sdk
from tests.support.page_rig import Rig, rig
from tests.support.result_contract import *  # noqa: F403

__all__ = ["rig"]

if sdk.has_fastmcp():
    import_module("fastmcp")  # here, as each test has a time limit


@pytest.fixture(autouse=True)
def kind(rig: Rig) -> None:
    rig.kind = "fastmcp" if sdk.has_fastmcp() else "mcp 1.x"
