"""`mcpframe list`: what a deployed server offers."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.markup import escape

from mcpframe.kit.commands.output import out

EXAMPLES = "Examples:  mcpframe list https://tools.example/pi/  |  mcpframe list http://localhost:8765/pi/ --json"

Origin = Annotated[
    str | None, typer.Option(help="The origin of the page that frames it; by default one that its manifest allows.")
]
Era = Annotated[str, typer.Option(help="The protocol to speak: auto for the newest, 2026-07-28, or legacy.")]
Timeout = Annotated[float, typer.Option(min=1, help="Seconds until the page has to have begun to speak.")]
Setup = Annotated[bool, typer.Option("--setup", help="Run the server's setup first; --enter does that, too.")]
Enter = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE|FIELD=@FILE|BUTTON",
        help="What to enter in the setup's form, and which buttons to press; may be repeated, and is done in order.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def list_server(
    url: Annotated[str, typer.Argument(help="The address of a server's page.")],
    origin: Origin = None,
    era: Era = "auto",
    timeout: Timeout = 30.0,
    setup: Setup = False,
    enter: Enter = None,
    as_json: AsJson = False,
) -> None:
    """List the tools, resources and prompts of a deployed server."""
    import asyncio

    from mcpframe.kit.oneshot import check_origin

    check_origin(origin)
    found = asyncio.run(_listed(url, origin, era, timeout, entries_of(setup, enter)))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for tool in found["tools"]:
        _print("tool", _signature(tool), tool.get("description"))
    for resource in found["resources"]:
        _print("resource", resource["uri"], resource.get("description"))
    for resource in found["resourceTemplates"]:
        _print("template", resource["uriTemplate"], resource.get("description"))
    for prompt in found["prompts"]:
        _print("prompt", prompt["name"], prompt.get("description"))
    if not any(found[kind] for kind in ("tools", "resources", "resourceTemplates", "prompts")):
        out.print("It offers nothing.")


def entries_of(setup: bool, enter: list[str] | None) -> list[tuple[str, Any]] | None:
    """What `--setup` and `--enter` ask for, as for `one_session`. Raises `SetupNotDone` where it cannot be used."""
    from mcpframe.kit.oneshot_setup import parse_entries

    return parse_entries(enter or ()) if setup or enter else None


async def _listed(
    url: str, origin: str | None, era: str, patience: float, setup: list[tuple[str, Any]] | None
) -> dict[str, Any]:
    from mcpframe.kit.oneshot import one_session

    async with one_session(url, origin=origin, era=era, patience=patience, setup=setup) as client:
        can = client.server_capabilities
        found: dict[str, Any] = {"server": _wire(client.server_info), "protocol": client.protocol_version}
        found["tools"] = await everything(client.list_tools, "tools") if can.tools else []
        found["resources"] = await everything(client.list_resources, "resources") if can.resources else []
        templates = client.list_resource_templates
        found["resourceTemplates"] = await everything(templates, "resource_templates") if can.resources else []
        found["prompts"] = await everything(client.list_prompts, "prompts") if can.prompts else []
        return found


async def everything(ask: Any, kind: str) -> list[dict[str, Any]]:
    """All pages of a list, as on the wire."""
    found, cursor = [], None
    while True:
        page = await ask(cursor=cursor)
        found += [_wire(item) for item in getattr(page, kind)]
        cursor = page.next_cursor
        if cursor is None:
            return found


def _wire(item: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def _signature(tool: dict[str, Any]) -> str:
    schema = tool["inputSchema"]
    required = schema.get("required", [])
    names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
    return f"{tool['name']}({', '.join(names)})"


def _print(kind: str, name: str, description: str | None) -> None:
    first = (description or "").strip().partition("\n")[0]
    out.print(f"[dim]{kind:<9}[/] [bold]{escape(name)}[/]  {escape(first)}")
