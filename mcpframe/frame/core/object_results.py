"""Results for receivers in which output schemas and structured content are objects: clients of MCP before 2026-07-28,
and views of MCP Apps.

They refuse a whole list of tools for one other schema, and a whole result for other structured content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]


def with_objects(method: str, result: Json) -> Json:
    """Return the result of a request, as on the wire, without what such a receiver refuses; else the same one.

    Args:
        method: the method of the request.
        result: its result.
    """
    if method == "tools/call":
        return called_with_object(result)
    tools = result.get("tools") if method == "tools/list" else None
    if not isinstance(tools, list) or all(map(_is_fit, tools)):
        return result
    return {**result, "tools": [tool_with_object(tool) if isinstance(tool, Mapping) else tool for tool in tools]}


def tool_with_object(tool: Json) -> Json:
    """Return a listed tool, without an output schema that is not one of an object."""
    return tool if _is_fit(tool) else {name: value for name, value in tool.items() if name != "outputSchema"}


def called_with_object(result: Json) -> Json:
    """Return a tool's result without structured content that is not an object; it becomes the text if it has none."""
    if isinstance(result.get("structuredContent", {}), Mapping):
        return result
    kept = {name: value for name, value in result.items() if name != "structuredContent"}
    if not kept.get("content"):
        kept["content"] = [{"type": "text", "text": json.dumps(result["structuredContent"], ensure_ascii=False)}]
    return kept


def _is_fit(tool: Any) -> bool:
    schema = tool.get("outputSchema") if isinstance(tool, Mapping) else None
    return schema is None or (isinstance(schema, Mapping) and schema.get("type") == "object")
