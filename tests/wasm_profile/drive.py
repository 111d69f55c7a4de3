"""A host's use of a server: every request that servers get, also in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp import Client, MCPError
from mcp_types import INVALID_REQUEST, ErrorData

_PATIENCE = 20.0  # seconds for each request
_MOST = 12  # of each kind
_TEXTS = ("Wien", '{"a": [1, 2]}', "a, b; ä ß €")


async def drive(client: Client, calls: dict[str, dict[str, Any]], only: Sequence[str] | None = None) -> None:
    """Ask a server for all that it has.

    Args:
        client: A connected client.
        calls: Arguments of tools, by name; others are made from the tools' schemas.
        only: The names of the tools to call; None for all.
    """
    tools = (await client.list_tools()).tools
    for tool in [each for each in tools if only is None or each.name in only][:_MOST]:
        made = [example(tool.input_schema, text) for text in _TEXTS[: 1 + (tool is tools[0])]]
        for arguments in [*([calls[tool.name]] if tool.name in calls else []), *made, {"no such": None}]:
            await _tried(client.call_tool(tool.name, arguments, progress_callback=_heard))
    await _tried(client.call_tool("no-such-tool", {}))
    await _tried(client.set_logging_level("debug"))
    with suppress(MCPError):
        for resource in (await client.list_resources()).resources[:_MOST]:
            await _tried(client.read_resource(str(resource.uri)))
        await client.list_resource_templates()
    await _tried(client.read_resource("none://such"))
    with suppress(MCPError):
        for prompt in (await client.list_prompts()).prompts[:_MOST]:
            arguments = {each.name: "a" for each in prompt.arguments or []}
            await _tried(client.get_prompt(prompt.name, arguments))
    await _tried(client.get_prompt("no-such-prompt"))


async def _heard(*_: object) -> None:
    """Take a report of progress."""


async def _refused(*_: object) -> ErrorData:
    """Refuse a request of the server."""
    return ErrorData(code=INVALID_REQUEST, message="not here")


CALLBACKS: dict[str, Any] = {
    **dict.fromkeys(("elicitation_callback", "sampling_callback", "list_roots_callback"), _refused),
    "logging_callback": _heard,
}
"""What the client does for servers."""


async def _tried(request: Awaitable[object]) -> None:
    with suppress(MCPError, TimeoutError):
        await asyncio.wait_for(request, _PATIENCE)


def example(schema: dict[str, Any], text: str, models: Mapping[str, Any] | None = None) -> Any:
    """Return a value that fits a schema, as far as its types say; of a model it has what is required.

    Args:
        text: The value of a string.
        models: `$defs` of the whole schema.
    """
    models = models or schema.get("$defs", {})
    if "$ref" in schema:
        model = models[schema["$ref"].rpartition("/")[2]]
        return {name: example(model["properties"][name], text, models) for name in model.get("required", ())}
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], text, models)
    match schema.get("type"):
        case "object":
            return {name: example(each, text, models) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [example(schema.get("items", {}), text, models)]
        case "integer":
            return 3
        case "number":
            return 2.5
        case "boolean":
            return True
        case "null":
            return None
    return text
