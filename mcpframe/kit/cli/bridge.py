"""The command `mcpframe bridge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.cli import common_options as opts
from mcpframe.kit.cli.examples import examples

Session = Annotated[
    str | None,
    typer.Option(callback=opts.is_name, help="The id of the session whose stored configuration is used."),
]
Headless = Annotated[
    bool | None,
    typer.Option(
        "--headless/--window",
        help="Whether the browser has a window; by default if the server's page has to be seen, where there is a "
        "display.",
    ),
]
Profile = Annotated[
    Path | None,
    typer.Option(
        callback=opts.is_writable_folder,
        help="The folder that keeps what the server stores; by default one of its own.",
    ),
]


def bridge(
    where: opts.Where,
    http: Annotated[bool, typer.Option("--http", help="Serve Streamable HTTP instead of stdio.")] = False,
    port: Annotated[int, opts.port("The port of --http; 0 takes a free one.")] = 8717,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="With --http: the origin of a web page that may ask; may be repeated.")
    ] = None,
    dialect: opts.Dialect = None,
    setup: Annotated[bool, typer.Option("--setup", help="Run the server's setup first, in a visible window.")] = False,
    headless: Headless = None,
    session: Session = None,
    profile: Profile = None,
    timeout: Annotated[float, opts.duration("How long the server's page may take to start, in seconds.")] = 60.0,
    busy_timeout: Annotated[
        float,
        typer.Option(
            callback=opts.is_pause,
            help="How long a tool may compute without a pause, in seconds, before its page is ended and opened again; "
            "0 for ever.",
        ),
    ] = 60.0,
) -> None:
    """Run a framed server in Chromium, for any MCP client: over stdio, or over Streamable HTTP."""
    from mcpframe.kit.base.progress import step

    opts.check_system("The bridge")
    from mcpframe.kit.bridge.run import BridgeOptions, bridge_http, bridge_stdio

    window = None if headless is None else not headless
    options = BridgeOptions(where, session, profile, timeout, busy_timeout, setup, window, step, dialect)
    if http:
        bridge_http(options, port, allow_origin or ())
    else:
        bridge_stdio(options)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(
        epilog=examples("mcpframe bridge https://tools.example/pi-calculator/", "mcpframe bridge . --http --port 8717")
    )(bridge)
