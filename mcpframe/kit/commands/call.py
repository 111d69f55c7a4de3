"""`mcpframe call`: one call of one tool of a deployed server, for scripts."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.markup import escape

from mcpframe.kit.commands.listing import AsJson, Enter, Era, Origin, Setup, Timeout, entries_of
from mcpframe.kit.commands.output import err

EXAMPLES = (
    "Examples:  mcpframe call https://tools.example/pi/ calculate_pi iterations=1000  |  "
    "mcpframe call URL search --args '{\"where\": [1, 2]}' --json  |  "
    "mcpframe call URL find name=Ada --enter 'Choose a file=@people.json' --enter 'Use this document'"
)


def call(
    url: Annotated[str, typer.Argument(help="The address of a server's page.")],
    tool: Annotated[str, typer.Argument(help="The tool's name.")],
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Arguments, typed by the tool's schema.")
    ] = None,
    args: Annotated[str | None, typer.Option(help="All arguments as a JSON object; - reads it from stdin.")] = None,
    origin: Origin = None,
    era: Era = "auto",
    timeout: Timeout = 30.0,
    setup: Setup = False,
    enter: Enter = None,
    as_json: AsJson = False,
) -> None:
    """Call one tool, print what it answers, and exit with 1 if that is an error."""
    import asyncio

    from mcpframe.kit.errors import CallError
    from mcpframe.kit.oneshot import check_origin

    check_origin(origin)
    if args is not None and pairs:
        raise CallError("Give the arguments as key=value or with --args, not both.")
    given = None if args is None else _object(sys.stdin.read() if args == "-" else args)
    entries = entries_of(setup, enter)
    result = asyncio.run(_called(url, tool, pairs or [], given, origin, era, timeout, entries))
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    elif result.get("isError"):
        err.print(f"[bold red]error:[/] {escape(shown(result))}")
    else:
        typer.echo(shown(result))
    if result.get("isError"):
        raise typer.Exit(1)


def _object(text: str) -> dict[str, Any]:
    from mcpframe.kit.errors import CallError

    try:
        value = json.loads(text)
    except ValueError as error:
        raise CallError(f"--args is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise CallError("--args has to be a JSON object, such as '{\"a\": 1}'.")
    return value


async def _called(
    url: str,
    name: str,
    pairs: list[str],
    given: dict[str, Any] | None,
    origin: str | None,
    era: str,
    patience: float,
    setup: list[tuple[str, Any]] | None,
) -> dict[str, Any]:
    from mcp.shared.exceptions import MCPError

    from mcpframe.kit.arguments import check_names, parse_pairs
    from mcpframe.kit.commands.listing import everything
    from mcpframe.kit.errors import CallError
    from mcpframe.kit.oneshot import one_session

    async with one_session(url, origin=origin, era=era, patience=patience, setup=setup) as client:
        tools = {tool["name"]: tool for tool in await everything(client.list_tools, "tools")}
        if name not in tools:
            raise CallError(f"The server has no tool {name!r}; it has: {', '.join(tools) or 'none'}.")
        schema = tools[name]["inputSchema"]
        arguments = parse_pairs(pairs, schema) if given is None else given
        check_names(arguments, schema)
        try:
            result = await client.call_tool(name, arguments)
        except MCPError as error:
            raise CallError(f"The server refuses the call: {str(error).rstrip('.')}.") from error
        dumped: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return dumped


def shown(result: dict[str, Any]) -> str:
    """A tool's result as text: its texts, a line for everything else, or its structured content."""
    parts = []
    for block in result.get("content", ()):
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] in ("image", "audio"):
            parts.append(f"[{block['type']}, {block['mimeType']}, {len(block['data']) * 3 // 4:,} bytes: see --json]")
        else:
            uri = block.get("uri") or block.get("resource", {}).get("uri", "")
            parts.append(f"[{block['type']} {uri}: see --json]")
    if not parts and "structuredContent" in result:
        parts.append(json.dumps(result["structuredContent"], indent=2))
    return "\n".join(parts)
