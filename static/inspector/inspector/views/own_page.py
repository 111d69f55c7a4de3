"""A server's own page in place of the published one, for its author.

The view of a tool often is the bundle of the same project: its HTML frames the published address. A UI resource may be
that address. In the inspector the author's current page is framed instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any, Final
from urllib.parse import urlsplit

import mcp_types as types

from mcpframe.views import View

PAGE_URI: Final = "ui://mcpframe-inspector/page"
"""The address of a server's own page as a view; no server lists it."""

_BUNDLE = re.compile(r'<meta name="mcpframe-bundle" content="([^"]+)"')


class OwnPage:
    """A client whose views frame a given page instead of the published bundle of the same name."""

    def __init__(self, client: Any, url: str, replaced: Callable[[str], None]) -> None:
        """Use a client.

        Args:
            url: the address of the server's page.
            replaced: called with the address of a replaced bundle.
        """
        self._client = client
        self._url = url
        self._replaced = replaced

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def read_resource(self, uri: str, **more: Any) -> types.ReadResourceResult:
        if uri == PAGE_URI:
            return self._page(uri)
        result: types.ReadResourceResult = await self._client.read_resource(uri, **more)
        published = next((url for one in result.contents if (url := bundle_of(getattr(one, "text", "")))), "")
        if not is_published(published, self._url):
            return result
        self._replaced(published)
        return self._page(uri)

    def _page(self, uri: str) -> types.ReadResourceResult:
        view = View(self._url, uri=uri if uri.startswith("ui://") else PAGE_URI)
        content = {"uri": uri, "mimeType": view.mime_type, "text": view.html, "_meta": view.meta}
        return types.ReadResourceResult.model_validate({"contents": [content]})


def bundle_of(html: str) -> str:
    """Return the address of the bundle that a view's HTML frames; empty if it frames none."""
    found = _BUNDLE.search(html[:4096])
    return unescape(found[1]) if found else ""


def is_published(published: str, own: str) -> bool:
    """Return whether an address is where the project's page is published: another one with the same last part."""
    return bool(published) and published != own and _name(published) == _name(own)


def _name(url: str) -> str:
    return urlsplit(url).path.rstrip("/").rpartition("/")[2]
