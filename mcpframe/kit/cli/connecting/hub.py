"""The command `mcpframe hub`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpframe.kit.cli.connecting import native_messaging as natives
from mcpframe.kit.cli.shared import common_options as opts
from mcpframe.kit.cli.shared.examples import examples

if TYPE_CHECKING:
    from mcpframe.kit.hub.run import HubSettings

_SHORTEST_NAME, USUAL_NAME = 40, 128


def checked_pages(values: list[str] | None) -> list[str]:
    """Return addresses of pages. Raises `typer.BadParameter` for one that the browser could read as an option."""
    from mcpframe.frame.core.errors import OriginError
    from mcpframe.frame.core.places import parse_address

    try:
        return [parse_address(value)[0] for value in values or ()]
    except OriginError as error:
        raise typer.BadParameter(str(error)) from None


Pages = Annotated[
    list[str] | None,
    typer.Argument(metavar="URL", callback=checked_pages, help="Pages to open at the start."),
]
Sites = Annotated[
    list[str] | None,
    typer.Option(
        "--site",
        metavar="ORIGIN",
        callback=opts.is_site,
        help="The origin of pages whose tools are offered, such as https://shop.example; may be repeated. '*' for all, "
        "which is the default for a browser of the hub's own.",
    ),
]
Ask = Annotated[
    bool, typer.Option("--ask", help="Ask before each call, in a window of the browser: once, always, or not.")
]
Attach = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=opts.is_hub_browser,
        help="Use a browser that runs already, by the address of its DevTools, such as http://127.0.0.1:9222, or wss://…",
    ),
]
Headless = Annotated[
    bool | None,
    typer.Option("--headless/--window", help="Whether the browser has a window; by default where there is a display."),
]
HubProfile = Annotated[
    Path | None,
    typer.Option(
        "--profile",
        callback=opts.is_writable_folder,
        help="The folder of the browser's profile; by default the hub's own.",
    ),
]
LongestName = Annotated[
    int,
    typer.Option(min=_SHORTEST_NAME, max=USUAL_NAME, help="The longest name of a tool: 64 where clients demand it."),
]
LogFile = Annotated[
    Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Append a line for each registration and call.")
]


@dataclass(frozen=True)
class Choice:
    """The options for a hub's browser, and for its pages whose tools are offered; see `HubSettings`."""

    sites: list[str]
    ask: bool
    attach: str | None
    profile: Path | None
    headless: bool | None

    def check(self) -> None:
        """Raise `typer.BadParameter` if options exclude each other."""
        if self.attach is not None:
            if self.profile is not None or self.headless is not None:
                raise typer.BadParameter("a browser that runs already has its own.", param_hint="--profile, --headless")
            if not self.sites and not self.ask:
                raise typer.BadParameter(
                    "it may have pages that you are logged in to: say which ones with --site ('*' for all), or use "
                    "--ask.",
                    param_hint="--attach",
                )
        elif self.ask and self.headless:
            raise typer.BadParameter("it needs a browser window.", param_hint="--ask")

    def settings(self, pages: list[str], **more: Any) -> HubSettings:
        """Return the settings of the hub. Raises as `check`."""
        from mcpframe.kit.browser.chromium import has_display

        usual = not has_display() if self.attach is None and self.headless is None else self.headless
        choice = replace(self, headless=usual)
        choice.check()
        from mcpframe.kit.hub.run import HubSettings

        return HubSettings(pages=pages, **{**vars(choice), "headless": bool(usual)}, **more)

    def command(self, pages: list[str], longest_name: int, log: Path | None) -> list[str]:
        """Return the command for a client, independent of the working directory."""
        from mcpframe.kit.base.own_command import own_command

        options = [f"--site={each}" for each in self.sites]
        options += ["--ask"] if self.ask else []
        options += [f"--attach={self.attach}"] if self.attach else []
        options += [f"--profile={self.profile.expanduser().absolute()}"] if self.profile else []
        options += [] if self.headless is None else ["--headless" if self.headless else "--window"]
        options += [] if longest_name == USUAL_NAME else [f"--longest-name={longest_name}"]
        options += [f"--log={log.expanduser().absolute()}"] if log else []
        return own_command("hub", *pages, *options)


def hub(
    pages: Pages = None,
    site: Sites = None,
    ask: Ask = False,
    attach: Attach = None,
    http: Annotated[bool, typer.Option("--http", help="Serve Streamable HTTP instead of stdio.")] = False,
    port: Annotated[int, opts.port("The port of --http; 0 takes a free one.")] = 8718,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            callback=opts.is_site,
            help="With --http or --extension: the origin of a web page that may be a client; may be repeated.",
        ),
    ] = None,
    headless: Headless = None,
    profile: HubProfile = None,
    longest_name: LongestName = USUAL_NAME,
    log: LogFile = None,
    extension: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            callback=opts.is_writable_folder,
            help="Write a browser extension that is a hub itself into a folder, for the sites of --site, and end.",
        ),
    ] = None,
    native: natives.Native = False,
    connect: natives.Connect = False,
    host: opts.Host = opts.LOOPBACK,
    public_host: opts.PublicHost = None,
    tokens: opts.Tokens = None,
    oauth: opts.OAuth = None,
    rate_limit: opts.RateLimit = None,
    trusted_proxy: opts.TrustedProxy = None,
) -> None:
    """Offer the tools of the pages in a browser, of MCP-B and of WebMCP, to any MCP client, over stdio or HTTP."""
    if not http or native:
        why = "The hub of an extension serves this machine only." if native else "They need --http."
        opts.check_no_access(why, host, public_host, oauth, rate_limit, trusted_proxy)
    if extension is not None:
        from mcpframe.kit.base.extras import need
        from mcpframe.kit.cli.shared.output import escape, out, step

        need("author", "Building an extension")
        from mcpframe.kit.hub.extension.build import build_extension

        folder = build_extension(
            extension, sites=site or [], longest_name=longest_name, ask=ask, clients=allow_origin or [], progress=step
        )
        out.print(f"{escape(str(folder))}: open chrome://extensions, switch on developer mode, and load it unpacked.")
        return
    if native or connect:
        natives.check(native, connect, bool(pages or site or ask or attach or profile or log or headless is not None))
        natives.run(native, port if http else None, allow_origin or [])
        return
    settings = Choice(site or [], ask, attach, profile, headless).settings(
        pages or [], longest_name=longest_name, log=log
    )
    from mcpframe.kit.hub.run import hub_http, hub_stdio

    if http:
        who = opts.access_of(host, public_host, allow_origin, tokens, oauth, rate_limit, trusted_proxy)
        hub_http(settings, port, who)
    else:
        hub_stdio(settings)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(
        epilog=examples(
            "mcpframe hub https://shop.example/ --site https://shop.example",
            "mcpframe hub --attach http://127.0.0.1:9222 --ask --http",
            "mcpframe hub --extension hub-extension --site https://shop.example",
        )
    )(hub)
