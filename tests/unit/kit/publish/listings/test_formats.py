"""Every file of a listing is one of its format: see `tests.support.listing_schemas`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcpframe.kit.edges.http.server_card import ai_catalog
from mcpframe.kit.publish.listings.cards import server_card
from mcpframe.kit.publish.listings.listing import Listing
from mcpframe.kit.publish.listings.registry import own_package, released_package, server_json
from tests.support.listing_schemas import AI_CATALOG, SERVER_CARD, SERVER_JSON, Schema

RELEASE = "https://github.com/someone/pi-mcp/releases/download/v1.2.3/pi.mcpb"
REMOTE = "https://mcp.example.com/mcp"
PACKAGES = [
    released_package(RELEASE, "ab" * 32),
    own_package("pypi:pi-mcp==1.2.3"),
    own_package("npm:@someone/pi@1.2.3"),
]


def documents(listing: Listing) -> dict[str, tuple[dict[str, Any], Schema]]:
    """Return each document, with its schema."""
    card = server_card(listing, REMOTE)
    return {
        "packages": (server_json(listing, PACKAGES), SERVER_JSON),
        "remotes": (server_json(listing, [], [REMOTE]), SERVER_JSON),
        "both": (server_json(listing, PACKAGES, [REMOTE]), SERVER_JSON),
        "card": (card, SERVER_CARD),
        "catalog": (ai_catalog(card), AI_CATALOG),
    }


NAMES = ("packages", "remotes", "both", "card", "catalog")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_valid(listing: Listing, name: str) -> None:
    document, schema = documents(listing)[name]
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []


def damaged(document: Any) -> Iterator[Any]:
    """Yield copies, each with one member more, or with a text emptied."""
    for place in places(document):
        for value in ({"other": 1}, ""):
            changed = copy.deepcopy(document)
            parent = changed
            for key in place[:-1]:
                parent = parent[key]
            member = parent[place[-1]] if place else changed
            if isinstance(member, dict) and value:
                member.update(value)
            elif isinstance(member, str) and not value:
                parent[place[-1]] = value
            else:
                continue
            yield changed


def places(value: Any, *place: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each object and text that the formats know; what is below `_meta` is the author's."""
    if isinstance(value, dict | str):
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for key, item in items:
        if key != "_meta":
            yield from places(item, *place, key)


@pytest.mark.parametrize("name", NAMES)
def test_one_that_is_damaged_is_not(listing: Listing, name: str) -> None:
    document, schema = documents(listing)[name]
    changed = [*damaged(document)]
    assert len(changed) > 3
    assert [each for each in changed if Draft202012Validator(schema).is_valid(each)] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_member_is_required_or_known_to_be_optional(listing: Listing, name: str) -> None:
    document, schema = documents(listing)[name]
    optional = {key for key in document if Draft202012Validator(schema).is_valid(without(document, key))}
    assert optional == ({"packages", "remotes"} if name == "both" else set())


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}
