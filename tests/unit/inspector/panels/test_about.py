"""Whether the inspector says that a server's frame has no storage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from inspector.panels.about import lacks_storage


@pytest.mark.parametrize(
    ("experimental", "lacks"),
    [
        ({"mcpframe/boot": {"start": "plain", "stores": False}}, True),
        ({"mcpframe/boot": {"start": "plain", "stores": True}}, False),
        ({"mcpframe/boot": {"start": "plain"}}, False),
        ({"mcpframe/boot": []}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_frame_without_storage_is_known_by_its_own_report(experimental: Any, lacks: bool) -> None:
    client: Any = SimpleNamespace(server_capabilities=SimpleNamespace(experimental=experimental))
    assert lacks_storage(client) == lacks
