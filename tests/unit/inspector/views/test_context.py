"""The host context of a view, and the tools that have one."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.views.context import MODES, Surroundings, view_of


def test_the_context_is_in_the_names_of_mcp_apps() -> None:
    chosen = Surroundings("dark", "pip", "320", "400", "de-AT", "Europe/Vienna")
    assert chosen.context() == {
        "theme": "dark",
        "displayMode": "pip",
        "availableDisplayModes": list(MODES),
        "containerDimensions": {"width": 320, "maxHeight": 400},
        "platform": "web",
        "locale": "de-AT",
        "timeZone": "Europe/Vienna",
    }
    plain = Surroundings().context()
    assert plain["containerDimensions"] == {}
    assert not {"locale", "timeZone"} & set(plain)


@pytest.mark.parametrize(
    ("meta", "uri"),
    [
        ({"ui": {"resourceUri": "ui://a/b"}}, "ui://a/b"),
        ({"ui/resourceUri": "ui://a/b"}, "ui://a/b"),
        ({"ui": {"visibility": ["app"]}}, None),
        ({"ui": {"resourceUri": "https://a.example/"}}, None),
        ({"ui": {"resourceUri": 1}}, None),
        ({"ui": "ui://a/b"}, None),
        ("ui", None),
        (None, None),
    ],
)
def test_which_tools_have_a_view(meta: Any, uri: str | None) -> None:
    assert view_of({"name": "a", "_meta": meta}) == uri
