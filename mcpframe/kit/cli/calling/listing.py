"""`mcpframe list`: the tools, resources and prompts of a server, deployed or in a folder."""

from __future__ import annotations

import json
from typing import Any

import typer

from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.common_options import AsJson, Dialect, Enter, Era, Origin, Setup, Timeout, Where
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import err, escape, out, silently, step
from mcpframe.kit.cli.shared.served_target import addressed

EXAMPLES = examples(
    "mcpframe list https://tools.example/pi/",
    "mcpframe list .",
    "mcpframe list dist/pi --json",
)


def list_server(
    url: Where,
    origin: Origin = None,
    dialect: Dialect = None,
    era: Era = "auto",
    timeout: Timeout = 30.0,
    setup: Setup = False,
    enter: Enter = None,
    settings: packages.Settings = None,
    as_json: AsJson = False,
) -> None:
    """List the tools, resources and prompts of a server: a published one, a built one, or a project's.

    Exit with 1 if it answers one of the lists with an error; the others are printed.
    """
    import asyncio

    from mcpframe.kit.client.session import check_origin

    check_origin(origin)
    entries = entries_of(setup, enter)
    progress = silently if as_json else step
    packages.apply_settings(url, settings, progress)
    with addressed(url, progress=progress) as address:
        listed = asyncio.run(_listed(address, origin, dialect, era, timeout, entries))
    errors = listed.get("errors", {})
    if as_json:
        typer.echo(json.dumps(listed, indent=2))
    else:
        _print_all(listed)
    for problem in errors.values():
        err.print(f"[bold red]error:[/] {escape(problem)}")
    if errors:
        raise typer.Exit(1)


def _print_all(found: dict[str, Any]) -> None:
    for tool in found["tools"]:
        _print("tool", _signature(tool), tool.get("description"))
    for resource in found["resources"]:
        _print("resource", resource["uri"], resource.get("description"))
    for resource in found["resourceTemplates"]:
        _print("template", resource["uriTemplate"], resource.get("description"))
    for prompt in found["prompts"]:
        _print("prompt", prompt["name"], prompt.get("description"))
    if not any(each for name, each in found.items() if name not in ("server", "protocol")):
        out.print("It offers nothing.")


def entries_of(setup: bool, enter: list[str] | None) -> list[tuple[str, Any]] | None:
    """Return the setup for `one_session` from `--setup` and `--enter`. Raises `SetupNotDone` if they cannot be used."""
    from mcpframe.kit.client.enter_setup import parse_entries

    return parse_entries(enter or ()) if setup or enter else None


async def _listed(
    url: str,
    origin: str | None,
    dialect: str | None,
    era: str,
    patience: float,
    setup: list[tuple[str, Any]] | None,
) -> dict[str, Any]:
    from mcpframe.kit.base.server_lists import list_or_problem, on_the_wire
    from mcpframe.kit.client.session import one_session

    session = one_session(url, origin=origin, dialect=dialect, era=era, patience=patience, setup=setup)
    async with session as client:
        can = client.server_capabilities
        listed: dict[str, Any] = {"server": on_the_wire(client.server_info), "protocol": client.protocol_version}
        lists = {
            "tools": (client.list_tools, "tools", can.tools),
            "resources": (client.list_resources, "resources", can.resources),
            "resourceTemplates": (client.list_resource_templates, "resource_templates", can.resources),
            "prompts": (client.list_prompts, "prompts", can.prompts),
        }
        errors: dict[str, str] = {}
        for name, (ask, kind, offered) in lists.items():
            listed[name], problem = await list_or_problem(ask, kind, offered=offered)
            if problem:
                errors[name] = problem
        return {**listed, "errors": errors} if errors else listed


def _signature(tool: dict[str, Any]) -> str:
    from mcpframe.kit.cli.calling.arguments import properties_of, required_of

    schema = tool["inputSchema"]
    required = required_of(schema)
    names = [name if name in required else f"{name}?" for name in properties_of(schema)]
    return f"{tool['name']}({', '.join(names)})"


def _print(kind: str, name: str, description: str | None) -> None:
    first = (description or "").strip().partition("\n")[0]
    out.print(f"[dim]{kind:<9}[/] [bold]{escape(' '.join(name.split()))}[/]  {escape(first)}")
