"""UI resources of mcp-ui: content blocks that a server returns and a host shows.

    return [TextContent(type="text", text="2 tasks"), ui_resource("ui://tasks/board",
    url="https://tools.example/board/")]

Source: mcp-ui, `UIResource` and the metadata `mcpui.dev/ui-…`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcpframe.frame.compat import sdk
from mcpframe.frame.core.errors import OriginError, UiError
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.session.host_messages import plain

if TYPE_CHECKING:
    from mcp.types import EmbeddedResource

HTML: Final = "text/html"
URI_LIST: Final = "text/uri-list"
REMOTE_DOM: Final = "application/vnd.mcp-ui.remote-dom"
PREFIX: Final = "mcpui.dev/ui-"
SIZE, DATA = f"{PREFIX}preferred-frame-size", f"{PREFIX}initial-render-data"
WAIT: Final = "waitForRenderData"

_LENGTH = re.compile(
    r"(?:[0-9]{1,6}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})(?:px|%|em|rem|ch|vw|vh|svh|lvh|dvh|cm|mm|in|pt)\Z|0\Z|auto\Z"
)

Json = Mapping[str, Any]
Size = tuple[str, str]
"""Width and height in CSS, such as `("100%", "400px")`."""


class PublishedView(Protocol):
    """A bundle as a view: a `View` of `mcpframe.views`.

    Attributes:
        uri: its name, `ui://…`.
        url: the bundle's address; empty if the bundle is in the text.
        html: the view as HTML text.
    """

    uri: str
    url: str
    html: str


def ui_resource(
    uri: str | PublishedView,
    *,
    html: str | None = None,
    url: str | None = None,
    size: tuple[str | int, str | int] | None = None,
    render_data: Json | None = None,
    blob: bool = False,
    meta: Json | None = None,
) -> EmbeddedResource:
    """Return a content block for the result of a tool, which hosts of mcp-ui show as a page.

    Args:
        uri: its name, `ui://…`; or a `View` of `mcpframe.views`, which has a name and content.
        html: the page as HTML text; hosts show it at an opaque origin.
        url: the page's address, such as that of one of your bundles.
        size: the width and height that the page prefers: CSS lengths, or pixels.
        render_data: the data for the page to draw (`session.host.render_data` in a bundle).
        blob: whether the content is encoded in base64.
        meta: further metadata of the resource.

    Raises:
        UiError: for an invalid URI or size, or if there is not exactly one content.
        OriginError: if the URL is not one that can be framed.
    """
    if not isinstance(uri, str):
        if html is not None or url is not None:
            raise UiError("A view has a content of its own: leave html and url out.")
        view, uri = uri, uri.uri
        url, html = view.url or None, None if view.url else view.html
    if not uri.startswith("ui://") or uri == "ui://":
        raise UiError(f"{uri!r} is not a name of a UI resource: write one such as 'ui://tasks/board'.")
    if (html is None) == (url is None) or not (html or url):
        raise UiError(f"The UI resource {uri} needs html or url, and not both.")
    content = html if url is None else parse_address(url)[0]
    assert content is not None
    added: dict[str, Any] = {}
    if size is not None:
        if len(size) != 2:
            raise UiError("A size is a width and a height.")
        added[SIZE] = [_length(value) for value in size]
    if render_data is not None:
        added[DATA] = plain(render_data)
    carried = {"blob": base64.b64encode(content.encode()).decode()} if blob else {"text": content}
    resource: dict[str, Any] = {"uri": uri, "mimeType": HTML if url is None else URI_LIST, **carried}
    if added or meta:
        resource["_meta"] = {**added, **(meta or {})}
    block: EmbeddedResource = sdk.model("EmbeddedResource").model_validate({"type": "resource", "resource": resource})
    return block


@dataclass(frozen=True, slots=True)
class UiContent:
    """The content of a UI resource: HTML text, or the address of a page.

    Attributes:
        uri: the name of the resource.
        html: the text; None for an address.
        url: the address; empty for a text.
        size: the preferred size; None if it is missing or invalid.
        data: the initial render data; None for none.
    """

    uri: str
    html: str | None = None
    url: str = ""
    size: Size | None = None
    data: Any = None


def read_ui_resource(resource: Any) -> UiContent:
    """Read a UI resource.

    Args:
        resource: the content block, or the resource in it: an object, or a model of the SDK.

    Raises:
        UiError: if it cannot be shown; the message says why.
    """
    item = plain(resource)
    if isinstance(item, dict) and isinstance(item.get("resource"), dict):
        item = item["resource"]
    if not isinstance(item, dict):
        raise UiError(f"An object of type {type(resource).__name__} is not a UI resource.")
    uri, kind = str(item.get("uri") or ""), str(item.get("mimeType") or "")
    meta = item.get("_meta")
    about: Json = meta if isinstance(meta, dict) else {}
    if kind.split(";")[0].split("+")[0].strip() == REMOTE_DOM:
        raise UiError(f"{uri} is a remote-dom script, which is not shown here: only HTML text and addresses are.")
    if kind == HTML:
        return UiContent(uri, html=_content(item), size=_size(about), data=about.get(DATA))
    if kind == URI_LIST:
        return UiContent(uri, url=first_address(_content(item)), size=_size(about), data=about.get(DATA))
    raise UiError(f"{uri} has the type {kind!r}: a UI resource has {HTML!r} or {URI_LIST!r}.")


def first_address(uris: str) -> str:
    """Return the first address with http or https of a text/uri-list.

    Raises:
        UiError: if there is none.
    """
    for line in re.split(r"[\r\n]", uris):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                return parse_address(line)[0]
            except OriginError:
                continue
    raise UiError("The list of addresses has none with http or https.")


def waiting_address(url: str) -> str:
    """Return an address whose query tells the page to wait for render data; the rest of it is unchanged."""
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != WAIT]
    return parts._replace(query=urlencode([*query, (WAIT, "true")])).geturl()


def _content(found: Json) -> str:
    if isinstance(found.get("text"), str):
        return str(found["text"])
    try:
        return base64.b64decode(str(found["blob"]), validate=True).decode()
    except KeyError:
        raise UiError(f"{found.get('uri')} has neither text nor blob.") from None
    except ValueError as error:
        raise UiError(f"The blob of {found.get('uri')} is not a text in base64: {error}") from None


def _length(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**6:
        return f"{value}px"
    if isinstance(value, str) and _LENGTH.match(value.strip()):
        return value.strip()
    raise UiError("A width or height is a CSS length such as '400px' or '100%', of at most six digits.")


def _size(meta: Json) -> Size | None:
    given = meta.get(SIZE)
    if not isinstance(given, list) or len(given) != 2:
        return None
    try:
        return _length(given[0]), _length(given[1])
    except UiError:
        return None
