"""Serves a server's card (SEP-2127) beside its endpoint, and the AI Catalog that leads to it.

Both are public: any web page may read them, and they are answered without a look at the request's host and origin.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpframe.kit.base.errors import ConfigError

CARD_SUFFIX = "/server-card"
"""What the extension reserves behind the address of a Streamable HTTP endpoint."""
CATALOG = "/.well-known/ai-catalog.json"
_CARD_TYPE = "application/mcp-server-card+json"
_CATALOG_TYPE = "application/ai-catalog+json"
_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "public, max-age=3600",
    "X-Content-Type-Options": "nosniff",
}
_MOST_BYTES = 65536


def read_card(path: Path) -> dict[str, Any]:
    """Return a card from a file, as `mcpframe announce --card` writes it.

    Raises:
        ConfigError: It is not a card with the address of an endpoint.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path} is too large for a server card.")
        card = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a server card ({error}): write one with mcpframe announce --card.") from None
    if not _is_card(card):
        raise ConfigError(f"{path} is not a server card: write one with mcpframe announce --card.")
    valid: dict[str, Any] = card
    return valid


def card_routes(card: Mapping[str, Any], endpoint: str) -> list[Route]:
    """Return the routes of a card and its catalog.

    Args:
        card: As from `read_card`.
        endpoint: The path of the Streamable HTTP endpoint.
    """
    return [
        _route(endpoint + CARD_SUFFIX, card, _CARD_TYPE),
        _route(CATALOG, ai_catalog(card), _CATALOG_TYPE),
    ]


def ai_catalog(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the AI Catalog with one entry, for the server of a card.

    Members that the card has are left out, as the specification wants it: `displayName` is for artifacts without a name
    of their own, and a card has its title, or else its name.
    """
    remote = card["remotes"][0]["url"]
    name = card["name"].partition("/")[2]
    return {
        "specVersion": "1.0",
        "entries": [
            {
                "identifier": f"urn:air:{urlsplit(remote).hostname}:mcp:{name}",
                "type": _CARD_TYPE,
                "url": remote + CARD_SUFFIX,
            }
        ],
    }


def _is_card(card: object) -> bool:
    if not isinstance(card, dict) or not all(isinstance(card.get(key), str) for key in ("name", "version")):
        return False
    remotes = card.get("remotes")
    url = remotes[0].get("url") if isinstance(remotes, list) and remotes and isinstance(remotes[0], dict) else None
    return isinstance(url, str) and url.startswith("https://") and "/" in card["name"]


def _route(path: str, document: Mapping[str, Any], media_type: str) -> Route:
    body = json.dumps(document, ensure_ascii=False, indent=2).encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**_HEADERS, "ETag": etag}

    async def answer(request: Request) -> Response:
        known = request.headers.get("if-none-match", "")
        if etag in known:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=media_type)

    return Route(path, answer, methods=["GET"])
