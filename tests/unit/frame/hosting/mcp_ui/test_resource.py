"""UI resources of mcp-ui: as a server makes them, and as a host reads them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.types import EmbeddedResource

import mcpframe
from mcpframe.frame.core.errors import OriginError, UiError
from mcpframe.frame.hosting.mcp_ui.resource import UiContent, first_address, read_ui_resource, waiting_address
from mcpframe.views import View

URI = "ui://tasks/board"


def wire(block: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = block.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def test_html_text() -> None:
    block = mcpframe.ui_resource(URI, html="<p>Grüße")
    assert isinstance(block, EmbeddedResource)
    resource = {"uri": URI, "mimeType": "text/html", "text": "<p>Grüße"}
    assert wire(block) == {"type": "resource", "resource": resource}
    assert read_ui_resource(block) == UiContent(URI, html="<p>Grüße")


def test_an_address_with_everything() -> None:
    block = mcpframe.ui_resource(
        URI,
        url="https://tools.example/board/",
        size=(800, "50vh"),
        render_data={"user": {"id": 1}},
        blob=True,
        meta={"x.author": "me"},
    )
    resource = wire(block)["resource"]
    assert base64.b64decode(resource.pop("blob")) == b"https://tools.example/board/"
    assert resource == {
        "uri": URI,
        "mimeType": "text/uri-list",
        "_meta": {
            "mcpui.dev/ui-preferred-frame-size": ["800px", "50vh"],
            "mcpui.dev/ui-initial-render-data": {"user": {"id": 1}},
            "x.author": "me",
        },
    }
    read = UiContent(URI, url="https://tools.example/board/", size=("800px", "50vh"), data={"user": {"id": 1}})
    assert read_ui_resource(block) == read_ui_resource(wire(block)) == read_ui_resource(wire(block)["resource"]) == read


def test_a_view_by_its_address_or_as_its_text(tmp_path: Path) -> None:
    address = "https://tools.example/board/"
    entry = {"url": address, "files": {"inline": "inline.html"}, "_meta": {}}
    (tmp_path / "manifest.json").write_text(json.dumps({"app": entry}), "utf-8")
    (tmp_path / "inline.html").write_text("<p>Board", "utf-8")
    block = mcpframe.ui_resource(View(address, uri=URI), size=(1, 2), render_data={"a": 1})
    assert read_ui_resource(block) == UiContent(URI, url=address, size=("1px", "2px"), data={"a": 1})
    inline = View(tmp_path, uri=URI, form="inline")
    assert read_ui_resource(mcpframe.ui_resource(inline)) == UiContent(URI, html="<p>Board")
    with pytest.raises(UiError, match="leave html and url out"):
        mcpframe.ui_resource(inline, html="x")


@pytest.mark.parametrize(
    ("uri", "options", "error"),
    [
        ("https://x", {"html": "x"}, UiError),
        ("ui://", {"html": "x"}, UiError),
        (URI, {}, UiError),
        (URI, {"html": ""}, UiError),
        (URI, {"html": "x", "url": "https://x.example/"}, UiError),
        (URI, {"url": "javascript:alert(1)"}, OriginError),
        (URI, {"html": "x", "size": ("big", 1)}, UiError),
        (URI, {"html": "x", "size": (True, 1)}, UiError),
        (URI, {"html": "x", "size": ("1px; color: red", 1)}, UiError),
    ],
)
def test_what_is_none(uri: str, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        mcpframe.ui_resource(uri, **options)


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        (
            {"mimeType": "application/vnd.mcp-ui.remote-dom+javascript; framework=react", "text": "x"},
            "remote-dom script",
        ),
        ({"mimeType": "application/vnd.mcp-ui.remote-dom", "text": "x"}, "remote-dom script"),
        ({"mimeType": "text/plain", "text": "x"}, "has the type 'text/plain'"),
        ({"mimeType": "text/html"}, "neither text nor blob"),
        ({"mimeType": "text/html", "blob": "?"}, "not a text in base64"),
        ({"mimeType": "text/html", "blob": "/w=="}, "not a text in base64"),
        ({"mimeType": "text/uri-list", "text": "# nothing\njavascript:alert(1)\nfile:///etc\n"}, "none with http"),
        ({}, "has the type ''"),
        (7, "type int is not a UI resource"),
    ],
)
def test_what_cannot_be_shown(resource: Any, told: str) -> None:
    with pytest.raises(UiError, match=told):
        read_ui_resource(resource)


def test_sizes_that_are_none_are_left_out() -> None:
    for size in (None, "800px", ["1px"], ["1px", "2px", "3px"], ["1px", "expression(1)"], [1.5, 2]):
        meta = {"mcpui.dev/ui-preferred-frame-size": size}
        assert read_ui_resource({"mimeType": "text/html", "text": "", "_meta": meta}).size is None


def test_the_first_address_of_a_list() -> None:
    uris = "# a comment\r\n\r\njavascript:alert(1)\nhttps://a b\n  https://one.example/x?y#z \nhttps://two.example/"
    assert first_address(uris) == "https://one.example/x?y#z"


@pytest.mark.parametrize(
    ("url", "waiting"),
    [
        ("https://x.example/", "https://x.example/?waitForRenderData=true"),
        ("https://x.example/a?b=1&c=#d", "https://x.example/a?b=1&c=&waitForRenderData=true#d"),
        ("https://x.example/?waitForRenderData=false&a=%20", "https://x.example/?a=+&waitForRenderData=true"),
    ],
)
def test_an_address_that_says_to_wait(url: str, waiting: str) -> None:
    assert waiting_address(url) == waiting
