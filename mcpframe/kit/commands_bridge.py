"""The commands `mcpframe bridge` and `mcpframe install`."""

from __future__ import annotations

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
    from mcpframe.kit.bridge.run import BridgeOptions, bridge_http, bridge_stdio
    from mcpframe.kit.progress import step

    options = BridgeOptions(where, session, profile, timeout, setup, step)
    if http:
        bridge_http(options, port, allow_origin or ())
    else:
        bridge_stdio(options)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(bridge)
