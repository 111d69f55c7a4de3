"""A bridge's server card and AI Catalog: served only with `--card`, to everybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.edges.http.access import PATH, Access
from mcpframe.kit.edges.http.endpoint import BridgeEndpoint, EdgeOptions, Spare
from mcpframe.kit.edges.http.server_card import CATALOG, read_card

CARD: dict[str, Any] = {
    "name": "com.example/pi",
    "title": "Pi",
    "version": "1.0",
    "remotes": [{"type": "streamable-http", "url": "https://mcp.example.com/mcp"}],
}


def client(card: dict[str, Any] | None) -> TestClient:
    async def open_page(_: object) -> Any:
        raise AssertionError("no page is opened for a card")

    endpoint = BridgeEndpoint(
        Spare(open_page), 8717, Access(allowed_origins=["https://chat.example"]), EdgeOptions(card=card)
    )
    return TestClient(endpoint.app, base_url="https://anything.example")


def test_a_card_and_the_catalog_that_leads_to_it() -> None:
    with client(CARD) as http:
        catalog = http.get(CATALOG, headers={"Origin": "https://other.example"})
        [entry] = catalog.json()["entries"]
        assert entry["identifier"] == "urn:air:mcp.example.com:mcp:pi"
        assert entry["url"] == "https://mcp.example.com/mcp/server-card"
        assert not {"displayName", "description", "version"} & set(entry)  # the card has them
        card = http.get(f"{PATH}/server-card")
        assert card.json() == CARD
        assert [each.headers["content-type"] for each in (catalog, card)] == [
            "application/ai-catalog+json",
            "application/mcp-server-card+json",
        ]
        assert entry["type"] == card.headers["content-type"]
        assert {each.headers["access-control-allow-origin"] for each in (catalog, card)} == {"*"}
        again = http.get(CATALOG, headers={"If-None-Match": catalog.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_without_a_card_there_is_none() -> None:
    with client(None) as http:
        assert http.get(CATALOG).status_code == 404
        assert http.get(f"{PATH}/server-card").status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "[" * 50_000,
        json.dumps({**CARD, "name": "pi"}),
        json.dumps({**CARD, "remotes": []}),
        json.dumps({**CARD, "remotes": [{"url": "http://mcp.example.com/mcp"}]}),
        json.dumps({**CARD, "title": "x" * 70_000}),
    ],
)
def test_what_is_no_card(tmp_path: Path, content: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match="card"):
        read_card(path)
