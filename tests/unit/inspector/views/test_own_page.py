"""A view that frames the project's published bundle frames the page that is being worked on; others are left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest

from inspector.views.own_page import PAGE_URI, OwnPage, bundle_of
from mcpframe.views.html import view_html

HERE = "http://localhost:8721/forecast/"


class Client:
    """A client of a server with one view."""

    server_capabilities = SimpleNamespace(tools=None)

    def __init__(self, html: str) -> None:
        self.html = html

    async def read_resource(self, uri: str, **_: Any) -> types.ReadResourceResult:
        contents = [{"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": self.html}]
        return types.ReadResourceResult.model_validate({"contents": contents})


async def read(html: str, uri: str = "ui://a/b") -> tuple[str, list[str]]:
    replaced: list[str] = []
    client = OwnPage(Client(html), HERE, replaced.append)
    assert client.server_capabilities is Client.server_capabilities
    result = await client.read_resource(uri)
    return str(getattr(result.contents[0], "text", None)), replaced


async def test_the_published_bundle_is_replaced() -> None:
    published = "https://tools.example/forecast/"
    assert await read(view_html(published)) == (view_html(HERE), [published])


@pytest.mark.parametrize("html", [view_html(HERE), view_html("https://tools.example/other/"), "<p>forecast"])
async def test_other_views_are_left_alone(html: str) -> None:
    assert await read(html) == (html, [])


async def test_the_page_itself_is_a_view() -> None:
    assert await read("<p>", PAGE_URI) == (view_html(HERE), [])


def test_the_address_is_that_of_the_bundle() -> None:
    assert bundle_of(view_html("https://tools.example/a/?b=1&c=2")) == "https://tools.example/a/?b=1&c=2"
    assert bundle_of("<p>mcpframe-bundle") == ""
