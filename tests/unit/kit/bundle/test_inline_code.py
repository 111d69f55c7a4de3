"""Which inline styles and handlers, and which tools with views, a build warns of."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.bundle.assembly.build_warnings import (
    inline_code_warnings,
    name_warnings,
    unseen_page_warnings,
    view_warnings,
)

PAGE = b"""<style>p { color: red }</style><p style="color: blue" class="style">style="x"</p>
<button onclick="go()" ONINPUT=x title='style="1"'>Go</button><svg><rect style="fill: red"/></svg>"""


def test_a_file_with_inline_styles_and_handlers_is_named_with_their_numbers() -> None:
    files = {"ui.html": PAGE, "plain.html": b'<p class="x">x</p>', "script.js": PAGE, "bad.htm": b"\xff<p style=x"}
    handlers, styles = inline_code_warnings(files, styles_allowed=False)
    assert handlers.startswith("ui.html has 2 ")
    assert "element.on" in handlers
    assert styles.startswith("ui.html has 3 ")
    assert "styles" in styles


def test_styles_that_the_policy_allows_are_not_warned_of() -> None:
    [handlers] = inline_code_warnings({"ui.html": PAGE}, styles_allowed=True)
    assert "handlers" in handlers


VIEW = {"resourceUri": "ui://dice/rolled"}


@pytest.mark.parametrize(
    ("tool", "warned"),
    [
        ({"_meta": {"ui": VIEW}}, True),
        ({"_meta": {"ui": {**VIEW, "visibility": ["model", "app"]}}}, True),
        ({"_meta": {"ui": {**VIEW, "visibility": ["app"]}}}, False),  # the view has asked for it
        ({"_meta": {"ui": VIEW}, "outputSchema": {"type": "object"}}, False),
        ({"_meta": {"ui": {"visibility": ["model"]}}}, False),
        ({"_meta": {"ui": 7}}, False),
        ({}, False),
    ],
)
def test_a_tool_with_a_view_and_without_an_output_schema(tool: dict[str, Any], warned: bool) -> None:
    found = view_warnings([{"name": "roll", **tool}])
    assert ["'roll'" in text and "Annotate its return type" in text for text in found] == [True] * warned


def test_a_page_that_is_drawn_and_hidden() -> None:
    [text] = unseen_page_warnings("hidden", draws=True)
    assert "visibility.requirement" in text
    for requirement, draws in (("hidden", False), ("optional", True), ("required", True), (None, True)):
        assert unseen_page_warnings(requirement, draws=draws) == []


def test_names_that_not_every_system_can_have() -> None:
    assert name_warnings(["a/B.js", "b.js", "a.js"]) == []
    [same, forbidden] = name_warnings(["Pictures/a.png", "pictures/A.png", "what?.txt"])
    assert "Pictures/a.png and pictures/A.png" in same
    assert "'what?.txt'" in forbidden
