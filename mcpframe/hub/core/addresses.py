"""Addresses of resources as clients see them: that of the page's own, after the domain and the number of its tab.

    website://<domain>/tab<N>/<address in the page>      website://shop.example/tab1/kept:///k41?offset=100

The beginning is looked up, and the rest goes to that tab as it is: templates work, too, and addresses that no list has.
A tab's number is never reused, so an address never comes to mean another tab.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcpframe.hub.core.messages import Json

_ADDRESS = re.compile(r"website://([^/]+)/tab([1-9][0-9]{0,14})/(.+)", re.DOTALL)
_NEXT = "mcpframe/next"
"""The member of `_meta` with the address of the next page: see `frame.serving.kept`."""


def address(domain: str, number: int, uri: str) -> str:
    """Return an address, or a template of addresses, for clients.

    Args:
        number: The number of the tab in its domain.
        uri: The address in the page.
    """
    return f"website://{domain}/tab{number}/{uri}"


def read_address(text: str) -> tuple[str, int, str] | None:
    """Return the domain, the number of the tab and the address in the page; None if it is not from `address`."""
    match = _ADDRESS.fullmatch(text)
    return None if match is None else (match[1], int(match[2]), match[3])


def addressed(result: Json, domain: str, number: int) -> dict[str, Any]:
    """Return the result of a page, with the addresses of resources in it as clients see them.

    They are those of links, embedded resources and contents; and in structured content the texts that equal a link's.
    """
    known: dict[str, str] = {}

    def seen(item: Mapping[str, Any]) -> dict[str, Any]:
        uri, meta = item.get("uri"), item.get("_meta")
        changed = dict(item)
        if isinstance(uri, str):
            changed["uri"] = known[uri] = address(domain, number, uri)
        if isinstance(meta, dict) and isinstance(following := meta.get(_NEXT), str):
            changed["_meta"] = {**meta, _NEXT: address(domain, number, following)}
        return changed

    def block(item: Any) -> Any:
        if isinstance(item, dict) and item.get("type") == "resource_link":
            return seen(item)
        if isinstance(item, dict) and item.get("type") == "resource" and isinstance(item.get("resource"), dict):
            return {**item, "resource": seen(item["resource"])}
        return item

    def told(value: Any) -> Any:
        if isinstance(value, str):
            return known.get(value, value)
        if isinstance(value, dict):
            return {key: told(each) for key, each in value.items()}
        return [told(each) for each in value] if isinstance(value, list) else value

    result = dict(result)
    if isinstance(content := result.get("content"), list):
        result["content"] = [block(each) for each in content]
    if isinstance(contents := result.get("contents"), list):
        result["contents"] = [seen(each) if isinstance(each, dict) else each for each in contents]
    if known and "structuredContent" in result:
        result["structuredContent"] = told(result["structuredContent"])
    return result
