"""The command `mcpframe bridge`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.base.limits import MOST_SESSIONS
from mcpframe.kit.cli.shared import common_options as opts
from mcpframe.kit.cli.shared.examples import examples

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

Browsers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL,…",
        callback=opts.are_devtools,
        envvar="MCPFRAME_BROWSERS",
        help="Use browsers that run elsewhere, by the addresses of their DevTools, such as http://10.0.0.5:9222 or "
        "wss://….",
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
    page_memory: Annotated[
        int,
        typer.Option(
            metavar="MB",
            min=0,
            help="How much memory the server's page may have, with its workers, before it is ended and opened again; "
            "0 for any amount.",
        ),
    ] = 0,
    browsers: Browsers = None,
    sessions: Annotated[
        int,
        typer.Option(
            min=1, max=1000, help="With --http: the most sessions of clients up to 2025-11-25, for each browser."
        ),
    ] = MOST_SESSIONS,
    sessions_per_user: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="With --tokens or --oauth: the most of these sessions of one user."),
    ] = None,
    drain: Annotated[
        float,
        typer.Option(
            callback=opts.is_pause,
            help="With --http: how long clients may go on after SIGTERM, in seconds, while new ones are refused.",
        ),
    ] = 0.0,
    name: Annotated[
        str | None,
        typer.Option(
            callback=opts.is_plain_name,
            help="With --http: the name before ids of sessions and states, by which a balancer finds this bridge among "
            "several.",
        ),
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="With --http: serve this server card, and the AI Catalog for it; see mcpframe announce.",
        ),
    ] = None,
    host: opts.Host = opts.LOOPBACK,
    public_host: opts.PublicHost = None,
    tokens: opts.Tokens = None,
    oauth: opts.OAuth = None,
    rate_limit: opts.RateLimit = None,
    trusted_proxy: opts.TrustedProxy = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="[IP:]PORT",
            callback=opts.is_listening_address,
            help="With --http: serve metrics for Prometheus at this port, 0 for a free one; without an IP address, for "
            "programs of this machine only.",
        ),
    ] = None,
) -> None:
    """Run a framed server in Chromium, for any MCP client: over stdio, or over Streamable HTTP."""
    from mcpframe.kit.base.progress import step

    of_http = {
        "--sessions-per-user": sessions_per_user,
        "--card": card,
        "--name": name,
        "--drain": drain,
        "--allow-origin": allow_origin,
    }
    if not http and (given := [option for option, value in of_http.items() if value]):
        raise typer.BadParameter("only with --http.", param_hint=", ".join(given))
    if browsers and (headless is not None or (profile is not None and not setup)):
        raise typer.BadParameter(
            "browsers elsewhere have no window and no profile of yours: leave out --browsers.",
            param_hint="--headless, --window, --profile",
        )
    if browsers and setup and not http and sys.stdin.isatty():
        raise typer.BadParameter(
            "in a terminal it ends after the setup, and browsers elsewhere keep nothing: add --http, or have a client "
            "run this.",
            param_hint="--setup",
        )
    if metrics is not None and not http:
        raise typer.BadParameter(
            "a bridge over stdio has one client and no metrics: add --http.", param_hint="--metrics"
        )
    from mcpframe.kit.bridge.run import BridgeOptions, bridge_http, bridge_stdio

    window = None if headless is None else not headless
    options = BridgeOptions(
        where,
        session,
        profile,
        timeout,
        busy_timeout,
        page_memory,
        setup,
        window,
        step,
        dialect,
        browsers or (),
        sessions,
        sessions_per_user,
        drain,
        name or "",
        card,
    )
    if http:
        from mcpframe.kit.edges.http.metrics import parse_address

        who = opts.access_of(host, public_host, allow_origin, tokens, oauth, rate_limit, trusted_proxy)
        if sessions_per_user is not None and not who.is_authorized:
            raise typer.BadParameter(
                "without --tokens or --oauth there are no users to tell apart.", param_hint="--sessions-per-user"
            )
        bridge_http(options, port, who, parse_address(metrics) if metrics is not None else None)
    else:
        opts.check_no_access("They need --http.", host, public_host, oauth, rate_limit, trusted_proxy)
        bridge_stdio(options)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(
        epilog=examples(
            "mcpframe bridge https://tools.example/pi-calculator/",
            "mcpframe bridge . --http --port 8717",
            "mcpframe bridge . --http --browsers http://10.0.0.5:9222,http://10.0.0.6:9222",
            "mcpframe bridge . --http --host 0.0.0.0 --public-host mcp.example --tokens tokens.txt",
        )
    )(bridge)
