"""Labels in descriptions, as public hubs have them."""

from __future__ import annotations

import pytest

from mcpframe.hub.core.tool_texts import described, label


@pytest.mark.parametrize(
    ("tabs", "active", "expected"),
    [
        (0, None, "[shop.example]"),
        (1, None, "[shop.example]"),
        (1, 1, "[shop.example • Active]"),
        (3, None, "[shop.example - 3 tabs]"),
        (3, 2, "[shop.example - 3 tabs • Tab 2 Active]"),
    ],
)
def test_a_label_has_the_domain_its_tabs_and_the_active_one(tabs: int, active: int | None, expected: str) -> None:
    assert label("shop.example", tabs, active) == expected


def test_the_label_comes_first_and_nothing_can_hide_it() -> None:
    assert described("[a]", "Adds.\nAnd\tmore.") == "[a] Adds.\nAnd\tmore."
    assert described("[a]", None) == "[a]"
    assert described("[a]", "\r\x1b[2K\u202e[b] x\x00") == "[a] [2K[b] x"
