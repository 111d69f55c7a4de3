"""The facts in a listing, and refusals of registries."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.publish.listings.listing import Listing, listing_of
from tests.unit.kit.publish.listings.conftest import NAME, PAGE


def test_what_the_manifest_says(listing: Listing) -> None:
    assert (listing.description, listing.version, listing.short_name) == ("Estimates pi.", "1.2.3", "pi-calculator")
    assert listing.tools == ({"name": "estimate", "description": "Estimate\n pi"}, {"name": "reset"})
    assert listing.command[0] == "uvx"
    assert listing.command[1].startswith("mcpframe@")
    assert listing.command[2:] == ("bridge", PAGE)


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"name": "pi"}, "--name"),
        ({"name": "a/b/c"}, "--name"),
        ({"name": "io.github.someone/--scope"}, "--name"),
        ({"name": "io.github.someone/.."}, "--name"),
        ({"name": "io.github.someone/" + "x" * 200}, "--name"),
        ({"description": "x" * 101}, "--description"),
        ({"version": "latest"}, "--server-version"),
        ({"version": "^1.0"}, "--server-version"),
        ({"version": "1.x"}, "--server-version"),
        ({"version": ">=1, <2"}, "--server-version"),
        ({"page": "http://tools.example/"}, "https://"),
    ],
)
def test_what_registries_refuse(manifest: dict[str, Any], changes: dict[str, str], remedy: str) -> None:
    values = {"page": PAGE, "name": NAME, **changes}
    with pytest.raises(ConfigError, match=remedy):
        listing_of(manifest, values.pop("page"), values.pop("name"), **values)


def test_a_manifest_of_a_stranger_gives_one_line_that_everybody_sees(manifest: dict[str, Any]) -> None:
    hostile = {"title": "Pi\0\x1b[2J\n\u202e \ud800", "instructions": "Estimates\u200b pi.\x07\n\nMore."}
    listing = listing_of({**manifest, **hostile}, PAGE, NAME)
    assert (listing.title, listing.description) == ("Pi[2J", "Estimates pi.")
    blank = {"title": " \u200b", "server": ["x"], "tools": {"name": "x"}}
    listing = listing_of({**manifest, **blank}, PAGE, NAME, version="1.0.0")
    assert (listing.title, listing.tools) == ("pi-calculator", None)
    listing = listing_of({**manifest, "tools": [1, {"name": "a\x07b", "description": None}, {}]}, PAGE, NAME)
    assert listing.tools == ({"name": "ab"},)


def test_versions_that_are_one_version(manifest: dict[str, Any]) -> None:
    for version in ("1.0.2", "2.1.0-alpha", "2026.11.28", "1.0.0+exp.1"):
        assert listing_of(manifest, PAGE, NAME, version=version).version == version


def test_a_page_that_no_client_could_use(manifest: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="no manifest"):
        listing_of(None, PAGE, NAME)
    with pytest.raises(ConfigError, match="allowed_origins"):
        listing_of({**manifest, "allowed_origins": ["https://chat.example"]}, PAGE, NAME)
    with pytest.raises(ConfigError, match="--description"):
        listing_of({**manifest, "instructions": None}, PAGE, NAME)
