"""Validation of a page's tools and resources: an invalid one is left out, as it would spoil the whole list for strict
clients.

Valid ones are passed on unchanged (schemas, annotations, `_meta`, unknown members), except for invisible characters
and icons of other origins (`tool_texts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.jsonrpc import MAX_INTEGER
from mcpframe.hub.core import limits
from mcpframe.hub.core.tool_texts import Unfit, own_icons, readable

PageTool = Mapping[str, Any]


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")


@dataclass(frozen=True)
class Listed:
    """A kind of things that a page lists.

    Attributes:
        noun: Its name, for the log.
        key: The member by which a page tells them apart: the name, or the address.
        longest: The longest key, in characters.
        needed: The further members that each has.
        members: The checks of the members that it may have.
    """

    noun: str
    key: str
    longest: int
    needed: tuple[str, ...]
    members: Mapping[str, Callable[[Any], bool]]


def checked(kind: Listed, tools: Sequence[Any], url: str | None) -> tuple[dict[str, PageTool], list[str]]:
    """Check the tools, the resources or the templates of a page.

    Args:
        tools: The list from a proxy.
        url: The address of the page; None if unknown.

    Returns:
        The valid ones by name or address, and a sentence about each omission.
    """
    valid: dict[str, PageTool] = {}
    problems: list[str] = []
    foreign: list[str] = []
    no_objects: list[str] = []
    left_out = size = 0
    for number, tool in enumerate(tools):
        if len(valid) >= limits.PAGE_TOOLS:
            problems.append(f"The page has {len(tools):,} {kind.noun}s; only {limits.PAGE_TOOLS} are taken.")
            break
        name = repr(str(tool.get(kind.key) if isinstance(tool, dict) else None)[:80])
        try:
            length = _check(kind, tool)
            taken = dict(readable(tool))
            if kind is TOOLS and not _is_schema(taken.get("outputSchema", {"type": "object"})):
                del taken["outputSchema"]
                no_objects.append(name)
            if taken[kind.key] in valid:
                raise Unfit(f"the page has another one of this {kind.key}")
            if size + length > limits.PAGE_TOOLS_CHARACTERS:
                raise Unfit(f"the page's {kind.noun}s have more than {limits.PAGE_TOOLS_CHARACTERS:,} characters")
        except Unfit as error:
            left_out += 1
            if left_out <= limits.TOOL_PROBLEMS:
                problems.append(f"{kind.noun.capitalize()} {number} ({name}) is left out: {error}.")
            continue
        if len(icons := own_icons(taken, url)) < len(taken.get("icons", ())):
            taken["icons"] = icons
            foreign.append(name)
        valid[taken[kind.key]] = taken
        size += length
    if left_out > limits.TOOL_PROBLEMS:
        problems.append(f"So are {left_out - limits.TOOL_PROBLEMS:,} others.")
    if no_objects:
        problems.append(
            f"{len(no_objects)} tools, such as {no_objects[0]}, lose their outputSchema: clients before 2026-07-28 "
            "take those of objects only."
        )
    if foreign:
        problems.append(
            f"{len(foreign)} {kind.noun}s, such as {foreign[0]}, have icons of other origins, which are left out."
        )
    return valid, problems


def is_cached(tool: PageTool) -> bool:
    """Return whether a tool outlives its tab: only if its annotation `cache` is exactly true."""
    return _annotation(tool, "cache")


def is_repeatable(tool: PageTool) -> bool:
    """Return whether a call that may have run can be repeated: its tool is read-only or idempotent."""
    return _annotation(tool, "readOnlyHint") or _annotation(tool, "idempotentHint")


def _annotation(tool: PageTool, name: str) -> bool:
    return (tool.get("annotations") or {}).get(name) is True


def _check(kind: Listed, tool: Any) -> int:
    """Return the length of a tool, or of a resource, as JSON text.

    Raises:
        Unfit: It is not valid.
    """
    if (problem := _problem(kind, tool)) is not None:
        raise Unfit(problem)
    try:
        text = payload.encode(tool)
        payload.decode(text, max_bytes=limits.TOOL_BYTES, max_nesting=limits.TOOL_NESTING)
    except (MessageError, TypeError, ValueError, RecursionError) as error:
        raise Unfit(f"it cannot be passed on ({str(error).rstrip('.')})") from None
    return len(text)


def _problem(kind: Listed, tool: Any) -> str | None:
    if not isinstance(tool, dict):
        return "it is not an object"
    key = tool.get(kind.key)
    if not isinstance(key, str) or not key:
        return f"it has no {kind.key}"
    if len(key) > kind.longest:
        return f"its {kind.key} is longer than {kind.longest} characters"
    if isinstance(reason := tool.get("unreadable"), str):  # see `static/hub/page.js`
        return f"it cannot be passed on ({reason.rstrip('.')[:200]})"
    if missing := next((member for member in kind.needed if member not in tool), None):
        return f"it has no {missing}"
    for member, fits in kind.members.items():
        if member in tool and not fits(tool[member]):
            return f"its {member} is invalid in MCP"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema(value: Any) -> bool:
    """Return whether a value is a schema that clients of every revision accept (MCP until 2025-11-25, `Tool`)."""
    if not isinstance(value, dict) or value.get("type") != "object":
        return False
    properties, required = value.get("properties", {}), value.get("required", [])
    return (
        isinstance(properties, dict)
        and all(isinstance(each, dict) for each in properties.values())
        and isinstance(required, list)
        and all(isinstance(each, str) for each in required)
        and isinstance(value.get("$schema", ""), str)
    )


def _is_annotations(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value[hint], bool) for hint in _HINTS if hint in value)
        and isinstance(value.get("title", ""), str)
    )


def _is_icons(value: Any) -> bool:
    return isinstance(value, list) and all(_is_icon(each) for each in value)


def _is_icon(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("src"), str)
        and isinstance(value.get("mimeType", ""), str)
        and value.get("theme", "light") in ("light", "dark")
        and isinstance(value.get("sizes", []), list)
        and all(isinstance(size, str) for size in value.get("sizes", []))
    )


def _is_execution(value: Any) -> bool:
    return isinstance(value, dict) and value.get("taskSupport", "optional") in ("forbidden", "optional", "required")


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and _SCHEME.match(value) is not None


def _is_audience(value: Any) -> bool:
    """Return whether a value is annotations of a resource."""
    return (
        isinstance(value, dict)
        and isinstance(audience := value.get("audience", []), list)
        and all(each in ("user", "assistant") for each in audience)
        and type(priority := value.get("priority", 0)) in (int, float)
        and 0 <= priority <= 1
        and isinstance(value.get("lastModified", ""), str)
    )


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_INTEGER


_OF_ALL: Mapping[str, Callable[[Any], bool]] = {
    "description": _is_text,
    "title": _is_text,
    "icons": _is_icons,
    "_meta": _is_object,
}
_OF_RESOURCES = {**_OF_ALL, "name": _is_text, "mimeType": _is_text, "annotations": _is_audience}

TOOLS = Listed(
    "tool",
    "name",
    limits.TOOL_NAME_CHARACTERS,
    ("inputSchema",),
    {
        "inputSchema": _is_schema,
        "outputSchema": _is_object,
        "annotations": _is_annotations,
        "execution": _is_execution,
        **_OF_ALL,
    },
)
RESOURCES = Listed(
    "resource", "uri", limits.URL_CHARACTERS, ("name",), {**_OF_RESOURCES, "uri": _is_address, "size": _is_size}
)
TEMPLATES = Listed(
    "template", "uriTemplate", limits.URL_CHARACTERS, ("name",), {**_OF_RESOURCES, "uriTemplate": _is_address}
)
