"""The tool call that is shown in a view: a real one with sample arguments where that can be had.

The tool is the bundle's own, or that of a server beside it whose tools have the bundle as their view.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.hosting.policy import resource_uri, ui_of
from mcpframe.kit.base.deadline import within
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.bundle.assembly.client_rules import beside_note
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.view_checks.samples import NoSample, sample
from mcpframe.kit.servers.published import not_offered

Json = Mapping[str, Any]


@dataclass(frozen=True)
class SampleCall:
    """A tool call to show.

    Attributes:
        tool: The tool, as `tools/list` has it.
        arguments: The arguments.
        result: The result, on the wire.
        note: Why it is not a call of the server, or what clients do with its result; empty for nothing.
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
        origin: The origin of the page that frames it for the call; by default the first that it allows.
        patience: Seconds for the page's first message, and for the call.
    """
    tool = shown_tool(manifest.get("tools") or ())
    if tool is None:
        tool = {"name": "tool", "inputSchema": {"type": "object"}}
        note = "The bundle has no tool, so the result is made up: name the server that has one by --server."
        return SampleCall(tool, {}, _made_up(tool), note)
    if reason := not_offered(manifest):
        return SampleCall(tool, {}, _made_up(tool), f"The bundle {reason}. The result of {tool['name']} is made up.")
    return await _called(tool, partial(one_session, url, origin=origin, patience=patience), patience)


async def call_of_program(command: Sequence[str], *, patience: float = 30.0) -> SampleCall:
    """Call a tool of a server that is started for it, over stdio; see `call_to_show`.

    Args:
        command: The server's program and its arguments.
        patience: Seconds for its start, for its list of tools, and for the call.

    Raises:
        CallError: It does not list its tools.
        ToolFailed: It does not start, does not speak MCP, or has no tool with a view.
    """
    name = " ".join(command)

    def silent() -> ToolFailed:
        return ToolFailed(f"{name} has not answered within {patience:g} s: it has to serve MCP over stdio.")

    client = Client(StdioServerParameters(command=command[0], args=list(command[1:])))
    try:
        async with within(patience, silent):
            await client.__aenter__()
    except (OSError, MCPError, ExceptionGroup) as error:
        raise ToolFailed(f"{name} does not serve MCP over stdio: {reason_of(error).rstrip('.')}.") from error
    try:
        tool = shown_tool(await list_all(client.list_tools, "tools", patience=patience))
        if tool is None or not resource_uri(tool):
            raise ToolFailed(f"{name} has no tool with a view: add one by Views.tool of mcpframe.views.")
        return await _called(tool, lambda: nullcontext(client), patience)
    finally:
        await client.__aexit__(None, None, None)  # with the error, it would come out as a group


async def _called(
    tool: Json, session: Callable[[], AbstractAsyncContextManager[Client]], patience: float
) -> SampleCall:
    """Call a tool with sample arguments in a session."""
    try:
        arguments = sample(tool["inputSchema"])
    except NoSample as error:
        note = f"No sample arguments for {tool['name']} ({error}), so they and the result are made up."
        return SampleCall(tool, {}, _made_up(tool), note)
    name = tool["name"]
    if (tool.get("annotations") or {}).get("destructiveHint"):
        return SampleCall(tool, arguments, _made_up(tool), f"{name} is destructive, so its result is made up.")
    try:
        async with session() as client, asyncio.timeout(patience):
            result = await client.call_tool(name, arguments)
    except (McpFrameError, MCPError, TimeoutError) as error:
        reason = str(error).partition("\n")[0].rstrip(".") or "no answer in time"
        return SampleCall(tool, arguments, _made_up(tool), f"{name} failed ({reason}), so its result is made up.")
    wire = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    note = f"{name} answers these sample arguments with an error." if result.is_error else beside_note(name, wire)
    return SampleCall(tool, arguments, wire, note)


def _made_up(tool: Json) -> Json:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "A made-up result"}]}
    with suppress(NoSample):
        if schema := tool.get("outputSchema"):
            result["structuredContent"] = sample(schema)
    return result
