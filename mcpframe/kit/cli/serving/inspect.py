"""`mcpframe inspect`: the inspector, for a server or for the hub."""

from __future__ import annotations

import webbrowser
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from mcpframe.kit.cli.connecting import hub as hubs
from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, keep_running, out, step
from mcpframe.kit.cli.shared.served_target import addressed

if TYPE_CHECKING:
    from mcpframe.kit.dev.inspector import Inspecting

EXAMPLES = examples(
    "mcpframe inspect my-server",
    "mcpframe inspect https://tools.example/pi/",
    "mcpframe inspect --hub my-shop https://shop.example/",
)

_PAGES_PORT = 8730
"""The first port for projects: their pages' storage, and the names of their tools, belong to their origins."""


def inspect(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=f"[{options.SERVER}]...",
            help=f"{options.SERVER_HELP} With --hub: those of pages to open.",
        ),
    ] = None,
    settings: packages.Settings = None,
    port: Annotated[int, options.port("The inspector's port; 0 takes the usual one, or a free one.")] = 0,
    era: options.Era = "auto",
    dialect: options.Dialect = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the default browser.")] = True,
    hub: Annotated[
        bool,
        typer.Option(
            "--hub",
            help="Look at the hub instead: the tools of all tabs of a browser. The options below are those of "
            "mcpframe hub.",
        ),
    ] = False,
    site: hubs.Sites = None,
    ask: hubs.Ask = False,
    attach: hubs.Attach = None,
    headless: hubs.Headless = None,
    profile: hubs.HubProfile = None,
) -> None:
    """Inspect a server as its host: its setup, tools, resources, prompts, and every message. Until Ctrl-C."""
    from mcpframe.kit.base.extras import need

    need("author", "The inspector, a page that is built on this machine,")
    packages.apply_settings(targets[0] if targets else "", settings, step)
    if hub:
        if dialect:
            raise typer.BadParameter("the hub has no dialect: leave it out with --hub.", param_hint="--dialect")
        choice = hubs.Choice(site or [], ask, attach, profile, headless)
        _inspect_hub(targets or [], port, era, open_browser, choice)
        return
    if site or ask or attach or profile or headless is not None:
        raise typer.BadParameter("options of the hub: use them with --hub.", param_hint="--site, --ask, \u2026")
    if len(targets or ()) > 1:
        raise typer.BadParameter("one at a time: others are added in the inspector.", param_hint=options.SERVER)
    _inspect_server(targets[0] if targets else None, port, era, dialect, open_browser)


def _inspect_server(target: str | None, port: int, era: str, dialect: str | None, open_browser: bool) -> None:
    from mcpframe.kit.dev.inspector import serve_inspector
    from mcpframe.kit.servers.named_server import Built, Published, Sources, named_server

    named = None if target is None else named_server(target)
    projects = [named.path] if isinstance(named, Sources) else []
    bundles = [named.only] if isinstance(named, Built) else []
    with serve_inspector(projects, bundles=bundles, dialect=dialect, port=port, progress=step) as inspecting:
        server = named.url if isinstance(named, Published) else next(iter(inspecting.servers.values()), None)
        if isinstance(named, Published):
            out.print(f"The server has to allow {inspecting.origin}.")
        keep_inspecting(inspecting, server, era, dialect, open_browser=open_browser)


def keep_inspecting(
    inspecting: Inspecting,
    server: str | None,
    era: str = "auto",
    dialect: str | None = None,
    *,
    open_browser: bool,
) -> NoReturn:
    """Print the address of a running inspector, open it in the browser if requested, and wait until Ctrl-C.

    Args:
        server: The address of the server to inspect, if any.
        era: The protocol to speak with it.
        dialect: The dialect to frame it in; by default the preferred one.
    """
    address = inspecting.url_with(server, era, dialect=dialect) if server else inspecting.url
    if server:
        out.print(f"server     {escape(server)}")
    _show(address, open_browser)
    keep_running()


def _show(address: str, open_browser: bool) -> None:
    out.print(f"inspector  {escape(address)}")
    if open_browser:
        webbrowser.open(address)


def _inspect_hub(targets: list[str], port: int, era: str, open_browser: bool, choice: hubs.Choice) -> None:
    """Inspect a hub; projects among its pages are built, and served meanwhile."""
    from mcpframe.kit.dev.inspector import serve_inspector

    with ExitStack() as stack:
        settings = choice.settings([])
        served = {
            target: stack.enter_context(addressed(target, port=_PAGES_PORT + index, pages=True, progress=step))
            for index, target in enumerate(dict.fromkeys(targets))
        }
        settings = replace(settings, pages=hubs.checked_pages([served[target] for target in targets]))
        from mcpframe.kit.hub.inspected import serve_inspected
        from mcpframe.kit.hub.run import run_hub

        inspecting = stack.enter_context(serve_inspector(port=port, progress=step))

        def ready(server: str) -> None:
            for page in settings.pages:
                out.print(f"page       {escape(page)}")
            _show(inspecting.url_with(server, era, is_hub=True), open_browser)
            out.print("Ctrl-C stops it.")

        run_hub(settings, lambda server: serve_inspected(server, inspecting.origin, ready))
