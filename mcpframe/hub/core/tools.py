"""Validation of a page's tools: an invalid one is left out, as it would spoil the whole list for strict clients.

Valid tools are passed on unchanged (schemas, annotations, `_meta`, unknown members), except for invisible characters
and icons of other origins (`tool_texts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.hub.core import limits
from mcpframe.hub.core.tool_texts import Unfit, own_icons, readable

PageTool = Mapping[str, Any]


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def checked_tools(tools: Sequence[Any], url: str | None) -> tuple[dict[str, PageTool], list[str]]:
    """Check the tools of a page.

    Args:
        tools: The list from a proxy.
        url: The address of the page; None if unknown.

    Returns:
        The valid tools by name, and a sentence about each omission.
    """
    valid: dict[str, PageTool] = {}
    problems: list[str] = []
    foreign: list[str] = []
    no_objects: list[str] = []
    left_out = size = 0
    for number, tool in enumerate(tools):
        if len(valid) >= limits.PAGE_TOOLS:
            problems.append(f"The page has {len(tools):,} tools; only {limits.PAGE_TOOLS} are taken.")
            break
        name = repr(str(tool.get("name") if isinstance(tool, dict) else None)[:80])
        try:
            length = _check(tool)
            taken = dict(readable(tool))
            if not _is_schema(taken.get("outputSchema", {"type": "object"})):
                del taken["outputSchema"]
                no_objects.append(name)
            if taken["name"] in valid:
                raise Unfit("the page has another one of this name")
            if size + length > limits.PAGE_TOOLS_CHARACTERS:
                raise Unfit(f"the page's tools have more than {limits.PAGE_TOOLS_CHARACTERS:,} characters")
        except Unfit as error:
            left_out += 1
            if left_out <= limits.TOOL_PROBLEMS:
                problems.append(f"Tool {number} ({name}) is left out: {error}.")
            continue
        if len(icons := own_icons(taken, url)) < len(taken.get("icons", ())):
            taken["icons"] = icons
            foreign.append(name)
        valid[taken["name"]] = taken
        size += length
    if left_out > limits.TOOL_PROBLEMS:
        problems.append(f"So are {left_out - limits.TOOL_PROBLEMS:,} others.")
    if no_objects:
        problems.append(
            f"{len(no_objects)} tools, such as {no_objects[0]}, lose their outputSchema: clients before 2026-07-28 "
            "take those of objects only."
        )
    if foreign:
        problems.append(f"{len(foreign)} tools, such as {foreign[0]}, have icons of other origins, which are left out.")
    return valid, problems


def is_cached(tool: PageTool) -> bool:
    """Return whether a tool outlives its tab: only if its annotation `cache` is exactly true."""
    return _annotation(tool, "cache")


def is_repeatable(tool: PageTool) -> bool:
    """Return whether a call that may have run can be repeated: its tool is read-only or idempotent."""
    return _annotation(tool, "readOnlyHint") or _annotation(tool, "idempotentHint")


def _annotation(tool: PageTool, name: str) -> bool:
    return (tool.get("annotations") or {}).get(name) is True


def _check(tool: Any) -> int:
    """Return the length of a tool as JSON text.

    Raises:
        Unfit: It is not valid.
    """
    if (problem := _problem(tool)) is not None:
        raise Unfit(problem)
    try:
        text = payload.encode(tool)
        payload.decode(text, max_bytes=limits.TOOL_BYTES, max_nesting=limits.TOOL_NESTING)
    except (MessageError, TypeError, ValueError, RecursionError) as error:
        raise Unfit(f"it cannot be passed on ({str(error).rstrip('.')})") from None
    return len(text)


def _problem(tool: Any) -> str | None:
    if not isinstance(tool, dict):
        return "it is not an object"
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        return "it has no name"
    if len(name) > limits.TOOL_NAME_CHARACTERS:
        return f"its name is longer than {limits.TOOL_NAME_CHARACTERS} characters"
    if isinstance(reason := tool.get("unreadable"), str):  # see `static/hub/page.js`
        return f"it cannot be passed on ({reason.rstrip('.')[:200]})"
    if "inputSchema" not in tool:
        return "it has no inputSchema"
    for member, fits in _MEMBERS.items():
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


_MEMBERS: Mapping[str, Callable[[Any], bool]] = {
    "inputSchema": _is_schema,
    "outputSchema": _is_object,
    "description": _is_text,
    "title": _is_text,
    "annotations": _is_annotations,
    "icons": _is_icons,
    "execution": _is_execution,
    "_meta": _is_object,
}
