"""The commands `mcpframe install` and `mcpframe uninstall`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.base.terminal import visible
from mcpframe.kit.cli.connecting import hub as hubs
from mcpframe.kit.cli.connecting import native_messaging as natives
from mcpframe.kit.cli.connecting.bridge import Profile, Session
from mcpframe.kit.cli.shared import common_options as opts
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import err, step

if TYPE_CHECKING:
    from mcpframe.kit.base.extras import Extra
    from mcpframe.kit.base.user_folders import UserFolders
    from mcpframe.kit.bridge.install.config_files import Change
    from mcpframe.kit.bridge.install.known_clients import KnownClient
    from mcpframe.kit.servers.named_server import Named


Clients = Annotated[
    list[str] | None, typer.Option(help="The client; may be repeated. By default all that are found here.")
]
InProject = Annotated[
    Path, typer.Option(exists=True, file_okay=False, help="The project, for clients that have a file in each.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]


def install(
    where: Annotated[
        str | None,
        typer.Argument(metavar=opts.SERVER, help=f"{opts.SERVER_HELP} With --hub: the address of a page to open."),
    ] = None,
    client: Clients = None,
    settings: packages.Settings = None,
    name: Annotated[str | None, typer.Option(callback=opts.is_name, help="What the server is called there.")] = None,
    project: InProject = Path(),
    session: Session = None,
    profile: Profile = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Whether to look first that the bridge may frame the server, and to build a project.",
        ),
    ] = True,
    yes: Yes = False,
    hub: Annotated[
        bool, typer.Option("--hub", help="Add the hub, for the tools of the pages in a browser, and no server.")
    ] = False,
    site: hubs.Sites = None,
    ask: hubs.Ask = False,
    attach: hubs.Attach = None,
    headless: hubs.Headless = None,
    longest_name: hubs.LongestName = hubs.USUAL_NAME,
    log: hubs.LogFile = None,
    native: natives.InstallNative = False,
    http: natives.InstallHttp = False,
    port: natives.InstallPort = natives.PORT,
    allow_origin: natives.InstallOrigins = None,
    extension_id: natives.ExtensionId = None,
) -> None:
    """Add a framed server, or the hub, to the configuration of MCP clients, after showing the changes.

    A project is built first, so that the client does not wait for it. The entry keeps this shell's variables for
    proxies, certificates, caches and the browser.
    """
    from mcpframe.kit.base.user_folders import UserFolders
    from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
    from mcpframe.kit.bridge.install.config_files import plan
    from mcpframe.kit.bridge.install.environment import needed_variables
    from mcpframe.kit.bridge.install.known_clients import CLIENTS
    from mcpframe.kit.bridge.target import build_project, check_for_install
    from mcpframe.kit.servers.named_server import Sources

    if native:
        natives.check_system("--native")
    packages.apply_settings(where or "", settings, step)
    places = UserFolders.here(project)
    variables, secret = needed_variables(places.variables)
    sources: Path | None = None
    if not native and (http or allow_origin or extension_id):
        raise typer.BadParameter("only with --native.", param_hint="--http, --allow-origin, --extension-id")
    if (not hub or native) and (log or longest_name != hubs.USUAL_NAME):
        raise typer.BadParameter("only with --hub, and without --native.", param_hint="--log, --longest-name")
    if allow_origin and not http:
        raise typer.BadParameter("only with --http.", param_hint="--allow-origin")
    if native:
        if not hub or where or session or site or ask or attach or headless is not None:
            raise typer.BadParameter(
                "it goes with --hub, and without options of other browsers.", param_hint="--native"
            )
        natives.install(places, extension_id, profile, port if http else None, allow_origin or [], yes)
        if client is None and not any(each.place(places).is_file() for each in CLIENTS):
            return
        command, usual = natives.client_command(), "mcpframe-hub"
        variables, secret = {}, []  # it reaches the browser's own program, and nothing else
    elif hub:
        if session is not None:
            raise typer.BadParameter("the hub has no sessions.", param_hint="--session")
        choice = hubs.Choice(site or [], ask, attach, profile, headless)
        choice.check()
        pages = hubs.checked_pages([where] if where else [])
        usual = "mcpframe-hub"
        command = choice.command(pages, longest_name, log)
    else:
        if where is None:
            raise typer.BadParameter("it is missing: give the server, or --hub.", param_hint=opts.SERVER)
        if site or ask or attach or headless is not None:
            raise typer.BadParameter("only with --hub.", param_hint="--site, --ask, --attach, --headless")
        named = _found(where)
        command, usual = _bridge_command(named, where, session, profile)
    chosen = _chosen(client, places)
    if check and not hub:
        check_for_install(named, HOST_ORIGIN)
        sources = named.path if isinstance(named, Sources) else None
    changes = _confirmed([plan(each, places, name or usual, command, variables) for each in chosen], yes)
    if secret:
        err.print(f"[yellow]warning:[/] {', '.join(secret)} has a password, and is not written: add it there yourself.")
    if sources and changes:
        build_project(sources, step)
    _write(changes)  # all or none


def uninstall(
    name: Annotated[
        str, typer.Argument(callback=opts.is_name, help="What the server is called in the client's configuration.")
    ],
    client: Clients = None,
    project: InProject = Path(),
    yes: Yes = False,
    native: natives.UninstallNative = False,
    profile: Profile = None,
) -> None:
    """Remove a server from the configuration of MCP clients, if `mcpframe install` has added it."""
    from mcpframe.kit.base.errors import InstallError
    from mcpframe.kit.base.user_folders import UserFolders
    from mcpframe.kit.bridge.install.config_files import installed, plan_removal
    from mcpframe.kit.bridge.install.known_clients import CLIENTS

    places = UserFolders.here(project)
    if native and natives.uninstall(places, profile) and not any(name in installed(each, places) for each in CLIENTS):
        return
    planned = [plan_removal(each, places, name) for each in _chosen(client, places)]
    changes = [change for change in planned if change]
    if not changes:
        known = sorted({other for each in CLIENTS for other in installed(each, places)})
        there = f"there is {', '.join(known)}" if known else "mcpframe has added none here"
        raise InstallError(f"No client has a server named {name!r}; {there}.")
    _write(_confirmed(changes, yes))


def _chosen(names: list[str] | None, places: UserFolders) -> list[KnownClient]:
    """Return the clients of these names, by default the installed ones."""
    from mcpframe.kit.base.errors import InstallError
    from mcpframe.kit.bridge.install.known_clients import BY_NAME, CLIENTS

    unknown = [each for each in names or () if each not in BY_NAME]
    if unknown:
        raise InstallError(f"{unknown[0]!r} is not a known client: choose one of {', '.join(BY_NAME)}.")
    chosen = [BY_NAME[each] for each in names or ()] or [each for each in CLIENTS if each.place(places).is_file()]
    if not chosen:
        raise InstallError(f"No client's configuration was found: name it with --client ({', '.join(BY_NAME)}).")
    return chosen


def _confirmed(changes: list[Change], yes: bool) -> list[Change]:
    """Show changes, and return those that the user wants, with those that are there already."""
    confirmed = []
    for change in changes:
        if change.is_none:
            confirmed.append(change)
            continue
        typer.echo(visible(change.difference()), nl=False)
        if yes or _may_write(change.client.title):
            confirmed.append(change)
        else:
            typer.echo(f"{change.client.title}: nothing was changed.")
    return confirmed


def _write(changes: list[Change]) -> None:
    for change in changes:
        if change.is_none:
            typer.echo(f"{change.client.title}: {change.path} has it already.")
            continue
        change.write()
        typer.echo(f"{change.client.title}: written. {change.client.after}")


def _found(where: str) -> Named:
    from mcpframe.kit.base.errors import ConfigError, InstallError
    from mcpframe.kit.servers.named_server import named_server

    try:
        return named_server(where)
    except ConfigError as error:
        raise InstallError(str(error)) from error


def _bridge_command(named: Named, word: str, session: str | None, profile: Path | None) -> tuple[list[str], str]:
    """Return the command for a client, independent of the working directory, and the server's usual name."""
    from mcpframe.kit.base.own_command import own_command
    from mcpframe.kit.browser.profile import slug
    from mcpframe.kit.servers.named_server import PACKAGE, Built, Published

    if isinstance(named, Published):
        where = named.url
        usual = slug(where.split("#")[0].split("?")[0].rstrip("/").rpartition("/")[2] or named.origin)
    elif word.startswith(PACKAGE):
        where, usual = word, slug(word.removeprefix(PACKAGE))
    else:
        path = named.only if isinstance(named, Built) else named.path
        where, usual = str(path), slug(path.resolve().stem)
    options = ["--session", session] if session else []
    options += ["--profile", str(profile.expanduser().absolute())] if profile else []
    extra: Extra | None = None if isinstance(named, Published | Built) else "author"
    return own_command("bridge", where, *options, extra=extra), usual


def _may_write(title: str) -> bool:
    from mcpframe.kit.base.errors import InstallError

    if not sys.stdin.isatty():
        raise InstallError("Only a terminal can ask for a confirmation: check the difference above, and add --yes.")
    return typer.confirm(f"Write this for {title}?")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(
        epilog=examples(
            "mcpframe install https://tools.example/pi-calculator/ --client claude-desktop",
            "mcpframe install . --client vscode --name my-server --yes",
            "mcpframe install --hub --site https://shop.example --client cursor",
            "mcpframe install --hub --native --client claude-desktop",
        )
    )(install)
    app.command(
        epilog=examples("mcpframe uninstall pi-calculator", "mcpframe uninstall my-server --client vscode --yes")
    )(uninstall)
