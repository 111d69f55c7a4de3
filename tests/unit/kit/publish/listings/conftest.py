"""A published server, and its listing."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.publish.listings.listing import Listing, listing_of

PAGE = "https://tools.example/pi calculator/?a=1&b='x'".replace(" ", "%20")
NAME = "io.github.someone/pi-calculator"


@pytest.fixture
def manifest() -> dict[str, Any]:
    """The manifest of a published bundle."""
    return {
        "title": 'Pi <calculator> & "more"',
        "server": {"name": "pi", "version": "1.2.3"},
        "instructions": "Estimates pi. It is slow.",
        "allowed_origins": ["https://chat.example", HOST_ORIGIN],
        "tools": [
            {"name": "estimate", "description": "Estimate\n pi", "inputSchema": {}},
            {"name": "reset", "inputSchema": {}},
        ],
    }


@pytest.fixture
def listing(manifest: dict[str, Any]) -> Listing:
    """Its listing."""
    return listing_of(manifest, PAGE, NAME)
