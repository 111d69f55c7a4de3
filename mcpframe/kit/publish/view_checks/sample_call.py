"""The tool call that is shown in a view: a real one with sample arguments where that can be had."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.hosting.policy import resource_uri, ui_of
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.view_checks.samples import NoSample, sample
from mcpframe.kit.web.published import not_offered

Json = Mapping[str, Any]


@dataclass(frozen=True)
class SampleCall:
    """A tool call to show.

    Attributes:
        tool: The tool, as `tools/list` has it.
        arguments: The arguments.
        result: The result, on the wire.
        note: Why it is not a call of the server; empty if it is.
    """

    tool: Json
    arguments: Json
    result: Json
    note: str = ""


def shown_tool(tools: Sequence[Json]) -> Json | None:
    """Return the tool to show: the first one that has a view and is for models, else the first one."""
    with_view = [tool for tool in tools if resource_uri(tool)]
    for_models = [tool for tool in with_view if "model" in (ui_of(tool).get("visibility") or ["model"])]
    return next(iter([*for_models, *with_view, *tools]), None)


async def call_to_show(url: str, manifest: Json, *, origin: str | None = None, patience: float = 30.0) -> SampleCall:
    """Call a tool of the bundle with sample arguments; where that cannot be done, make up a result.

    Args:
        url: The address at which the bundle can be framed.
        manifest: Its manifest.
        origin: The origin of the page that frames it for the call; by default the first that it allows.
        patience: Seconds for the page's first message, and for the call.
    """
    tool = shown_tool(manifest.get("tools") or ())
    if tool is None:
        tool = {"name": "tool", "inputSchema": {"type": "object"}}
        return SampleCall(tool, {}, _made_up(tool), "The bundle has no tool, so the result is made up.")
    try:
        arguments = sample(tool["inputSchema"])
    except NoSample as error:
        note = f"No sample arguments for {tool['name']} ({error}), so they and the result are made up."
        return SampleCall(tool, {}, _made_up(tool), note)
    name = tool["name"]
    if reason := not_offered(manifest):
        return SampleCall(tool, arguments, _made_up(tool), f"The bundle {reason}. The result of {name} is made up.")
    if (tool.get("annotations") or {}).get("destructiveHint"):
        return SampleCall(tool, arguments, _made_up(tool), f"{name} is destructive, so its result is made up.")
    try:
        async with one_session(url, origin=origin, patience=patience) as client, asyncio.timeout(patience):
            result = await client.call_tool(name, arguments)
    except (McpFrameError, MCPError, TimeoutError) as error:
        reason = str(error).partition("\n")[0].rstrip(".") or "no answer in time"
        return SampleCall(tool, arguments, _made_up(tool), f"{name} failed ({reason}), so its result is made up.")
    note = f"{name} answers these sample arguments with an error." if result.is_error else ""
    return SampleCall(tool, arguments, result.model_dump(mode="json", by_alias=True, exclude_none=True), note)


def _made_up(tool: Json) -> Json:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "A made-up result"}]}
    with suppress(NoSample):
        if schema := tool.get("outputSchema"):
            result["structuredContent"] = sample(schema)
    return result
