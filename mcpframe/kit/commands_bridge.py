"""The commands `mcpframe bridge` and `mcpframe install`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Where = Annotated[str, typer.Argument(help="The server's address (https://…), its built folder, or its project.")]


def bridge(
    where: Where,
    http: Annotated[bool, typer.Option("--http", help="Serve Streamable HTTP instead of stdio.")] = False,
    port: Annotated[int, typer.Option(help="The port of --http; 0 takes a free one.")] = 8717,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="With --http: the origin of a web page that may ask; may be repeated.")
    ] = None,
    setup: Annotated[bool, typer.Option("--setup", help="Run the server's setup first, in a visible window.")] = False,
    session: Annotated[
        str | None, typer.Option(help="The id of the session whose stored configuration is used.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="The folder that keeps what the server stores; by default one of its own.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="How long the server's page may take to start, in seconds.")] = 60.0,
) -> None:
    """Run a framed server in a headless Chromium, for any MCP client: over stdio, or over Streamable HTTP.

    Examples:

        mcpframe bridge https://tools.example/pi-calculator/

        mcpframe bridge . --http --port 8717
    """
    from mcpframe.kit.errors import BridgeError
    from mcpframe.kit.progress import step

    if sys.platform == "win32":  # a Chromium there is given its pipes in another way
        raise BridgeError("The bridge runs on Linux and macOS: on Windows, run it in WSL.")
    from mcpframe.kit.bridge.run import BridgeOptions, bridge_http, bridge_stdio

    options = BridgeOptions(where, session, profile, timeout, setup, step)
    if http:
        bridge_http(options, port, allow_origin or ())
    else:
        bridge_stdio(options)


def install(
    where: Where,
    client: Annotated[
        list[str] | None, typer.Option(help="The client; may be repeated. By default all that are found here.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the server is called there.")] = None,
    project: Annotated[Path, typer.Option(help="The project, for clients that have a file in each.")] = Path(),
    session: Annotated[str | None, typer.Option(help="As for mcpframe bridge.")] = None,
    profile: Annotated[Path | None, typer.Option(help="As for mcpframe bridge.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
) -> None:
    """Add a framed server to the configuration of MCP clients, after showing what changes.

    Examples:

        mcpframe install https://tools.example/pi-calculator/ --client claude-desktop

        mcpframe install . --client vscode --name my-server --yes
    """
    from mcpframe.kit.clients import BY_NAME, CLIENTS, Places
    from mcpframe.kit.errors import InstallError
    from mcpframe.kit.install import plan

    unknown = [each for each in client or () if each not in BY_NAME]
    if unknown:
        raise InstallError(f"{unknown[0]!r} is no client that is known here: choose of {', '.join(BY_NAME)}.")
    places = Places.here(project)
    chosen = [BY_NAME[each] for each in client or ()] or [each for each in CLIENTS if each.place(places).is_file()]
    if not chosen:
        raise InstallError(f"No client's configuration was found: name one with --client, of {', '.join(BY_NAME)}.")
    command, usual = _bridge_command(where, session, profile)
    changes = [plan(each, places, name or usual, command) for each in chosen]  # all or none
    for change in changes:
        if change.is_none:
            typer.echo(f"{change.client.title}: {change.path} has it already.")
            continue
        typer.echo(change.difference(), nl=False)
        if not yes and not _may_write(change.client.title):
            typer.echo(f"{change.client.title}: nothing was changed.")
            continue
        change.write()
        typer.echo(f"{change.client.title}: written. {change.client.after}")


def _bridge_command(where: str, session: str | None, profile: Path | None) -> tuple[list[str], str]:
    """What a client is to run, with nothing in it that depends on where it is run; and the server's usual name."""
    from mcpframe.frame.places import parse_address
    from mcpframe.kit.bridge.target import slug
    from mcpframe.kit.errors import InstallError

    if where.lower().startswith(("http:", "https:")):
        where, origin = parse_address(where)
        usual = slug(where.split("#")[0].split("?")[0].rstrip("/").rpartition("/")[2] or origin)
    else:
        path = Path(where).expanduser().absolute()
        if not path.exists():
            raise InstallError(f"{where!r} is neither an address (https://…) nor a folder or file on this machine.")
        where, usual = str(path), slug(path.resolve().stem)
    options = ["--session", session] if session else []
    options += ["--profile", str(profile.expanduser().absolute())] if profile else []
    return [sys.executable, "-m", "mcpframe", "bridge", where, *options], usual


def _may_write(title: str) -> bool:
    from mcpframe.kit.errors import InstallError

    if not sys.stdin.isatty():
        raise InstallError("Nobody can be asked here: look at the difference, and run this again with --yes.")
    return typer.confirm(f"Write this for {title}?")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(bridge)
    app.command()(install)
