"""A server card (SEP-2127), and the AI Catalog that leads to it: how clients find a server over Streamable HTTP.

A card describes a server that is reached over HTTP, and so a bridge that is deployed, not a page. `mcpframe bridge
--card` serves both files.
"""

from __future__ import annotations

from typing import Any

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.publish.listings.listing import PAGE_KEY, Listing, is_https

CARD_JSON = "server-card.json"
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def server_card(listing: Listing, remote: str) -> dict[str, Any]:
    """Return the card of a server.

    Args:
        remote: The address of its bridge, over Streamable HTTP.

    Raises:
        ConfigError: It is not an https address.
    """
    if not is_https(remote):
        raise ConfigError(f"A card leads to a bridge at an address that begins with https://, which {remote} does not.")
    return {
        "$schema": _SCHEMA,
        "name": listing.name,
        "title": listing.title,
        "description": listing.description,
        "version": listing.version,
        "websiteUrl": listing.page,
        "remotes": [{"type": "streamable-http", "url": remote}],
        "_meta": {PAGE_KEY: {"url": listing.page}},
    }
