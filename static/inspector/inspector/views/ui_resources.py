"""The UI resources of mcp-ui in a result, adapted for their author. Plain data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector.results.media import media_type
from inspector.views.own_page import is_published
from mcpframe import errors
from mcpframe.hosts import read_ui_resource

HTML: Final = "text/html"
URI_LIST: Final = "text/uri-list"
REMOTE_DOM: Final = "application/vnd.mcp-ui.remote-dom"
SIZE, DATA = "mcpui.dev/ui-preferred-frame-size", "mcpui.dev/ui-initial-render-data"

MOST: Final = 20
"""The number of UI resources of a result that are offered."""
HEIGHT: Final = "24rem"
"""The height of a page without a preference, or with one relative to its place."""

Json = Mapping[str, Any]

_APP = re.compile(r";\s*profile=", re.IGNORECASE)


def ui_resources_of(result: Any) -> list[dict[str, Any]]:
    """Return the UI resources in the result of a tool, in a resource, or in a prompt.

    Views of MCP Apps, which are HTML text of another profile, are left out.
    """
    found = result if isinstance(result, dict) else {}
    return [resource for resource in _resources(found) if _is_shown(resource)][:MOST]


def prepared(resource: Json, own: str = "") -> tuple[dict[str, Any], str]:
    """Return a resource for display, and the replaced address; empty for none.

    Its size fits the region, and its render data is left out: the user's is sent.

    Args:
        own: the address of the project's own page, which replaces its published address.
    """
    meta = resource.get("_meta")
    meta = {key: value for key, value in meta.items() if key != DATA} if isinstance(meta, dict) else {}
    shown = {**resource, "_meta": meta}
    try:
        content = read_ui_resource(shown)
    except errors.UiError:
        return shown, ""  # the caller shows the reason
    width, height = content.size or ("100%", HEIGHT)
    meta[SIZE] = [width, HEIGHT if height.endswith("%") or height == "auto" else height]
    if own and content.url and is_published(content.url, own):
        return {
            **{key: value for key, value in shown.items() if key != "blob"},
            "text": own,
            "_meta": meta,
        }, content.url
    return shown, ""


def data_of(resource: Json) -> dict[str, Any] | None:
    """Return the initial render data of a resource; None for none."""
    meta = resource.get("_meta")
    data = meta.get(DATA) if isinstance(meta, dict) else None
    return data if isinstance(data, dict) else None


def _resources(result: Json) -> Iterator[Any]:
    yield from _embedded(result.get("content"))
    contents, messages = result.get("contents"), result.get("messages")
    yield from contents if isinstance(contents, list) else ()
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        yield from _embedded(content if isinstance(content, list) else [content])


def _embedded(blocks: Any) -> Iterator[Any]:
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "resource":
            yield block.get("resource")


def _is_shown(resource: Any) -> bool:
    if not isinstance(resource, dict) or not str(resource.get("uri") or "").startswith("ui://"):
        return False
    kind = resource.get("mimeType")
    if media_type(kind).split("+")[0] == REMOTE_DOM:
        return True
    return media_type(kind) in (HTML, URI_LIST) and not _APP.search(str(kind))
