"""Which parts of a result are UI resources, and how they are shown while their author works on them."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.session.telling import wire
from inspector.views.ui_resources import HEIGHT, MOST, data_of, prepared, ui_resources_of
from mcpframe import ui_resource
from mcpframe.frame.hosting.mcp_ui.resource import DATA, SIZE

URI = "ui://tasks/board"
HERE = "http://localhost:8711/board/"


def block(**options: Any) -> dict[str, Any]:
    return wire(ui_resource(URI, **options))


def resource(**options: Any) -> dict[str, Any]:
    found: dict[str, Any] = block(**options)["resource"]
    return found


PAGE = resource(html="<p>Hi")


@pytest.mark.parametrize(
    ("result", "count"),
    [
        ({"content": [{"type": "text", "text": "2 tasks"}, block(html="<p>Hi"), block(url="https://a.example/")]}, 2),
        ({"contents": [PAGE]}, 1),
        ({"messages": [{"role": "user", "content": block(html="<p>Hi")}, {"content": [block(html="<p>Hi")]}]}, 2),
        ({"content": [block(html="<p>Hi")] * (MOST + 5)}, MOST),
        ({"contents": [{**PAGE, "mimeType": "application/vnd.mcp-ui.remote-dom+javascript; framework=react"}]}, 1),
        ({"contents": [{**PAGE, "mimeType": "text/html;profile=mcp-app"}]}, 0),
        ({"contents": [{**PAGE, "mimeType": "text/plain"}]}, 0),
        ({"contents": [{**PAGE, "mimeType": 7}, {**PAGE, "uri": "https://a.example/"}, {**PAGE, "uri": 7}, 7]}, 0),
        ({"content": "ui://tasks/board", "contents": {"uri": URI}, "messages": [7, {"content": None}]}, 0),
        ({"content": [{"type": "resource"}, {"type": "resource_link", **PAGE}]}, 0),
        (None, 0),
    ],
)
def test_which_parts_are_shown(result: Any, count: int) -> None:
    assert len(ui_resources_of(result)) == count


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (None, ["100%", HEIGHT]),
        (("50%", "100%"), ["50%", HEIGHT]),
        (("auto", "auto"), ["auto", HEIGHT]),
        ((640, 300), ["640px", "300px"]),
    ],
)
def test_a_page_has_a_height(size: Any, shown: list[str]) -> None:
    declared = resource(html="<p>Hi", size=size, render_data={"a": 1}, meta={"mine": True})
    made, replaced = prepared(declared)
    assert (made["_meta"], made["text"], replaced) == ({"mine": True, SIZE: shown}, "<p>Hi", "")
    assert data_of(declared) == {"a": 1} == declared["_meta"][DATA]  # which is left as it was


@pytest.mark.parametrize("meta", [None, 7, {}, {DATA: [1]}])
def test_data_that_is_none(meta: Any) -> None:
    assert data_of({**PAGE, "_meta": meta}) is None


@pytest.mark.parametrize("blob", [False, True])
def test_the_own_page_is_shown_in_place_of_the_published_one(blob: bool) -> None:
    published = resource(url="https://tools.example/board/", blob=blob)
    made, replaced = prepared(published, HERE)
    assert (made["text"], "blob" in made, replaced) == (HERE, False, "https://tools.example/board/")
    assert prepared(published)[1] == ""


@pytest.mark.parametrize("url", ["https://tools.example/other/", HERE])
def test_other_addresses_are_left_alone(url: str) -> None:
    assert prepared(resource(url=url), HERE) == ({**resource(url=url), "_meta": {SIZE: ["100%", HEIGHT]}}, "")


def test_what_cannot_be_shown_is_left_to_the_host() -> None:
    script = {"uri": URI, "mimeType": "application/vnd.mcp-ui.remote-dom+javascript", "text": "x"}
    assert prepared(script, HERE) == ({**script, "_meta": {}}, "")
