"""The hub runs on Linux and macOS: on Windows, its tests with pipes and sockets are left out."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.support.settling import SETTLING

_WITH_PIPES = ["test_connect.py", "test_edges.py", "test_log.py", "test_many_tabs.py", "test_native.py"]
collect_ignore = _WITH_PIPES if sys.platform == "win32" else []


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return SETTLING
