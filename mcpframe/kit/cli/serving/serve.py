"""`mcpframe serve`: a built folder on this machine, served like on a static host; or a server in plain Python."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, keep_running, out, step

if TYPE_CHECKING:
    from starlette.types import ASGIApp

EXAMPLES = examples(
    "mcpframe serve",
    "mcpframe serve public --port 8000 --port 8001",
    "mcpframe serve adder.py",
    "mcpframe serve adder.py --python",
    "mcpframe serve package:mcp-server-time --python",
    "mcpframe serve . --python --workers 4 --storage postgresql://mcp@db/mcp --tokens tokens.txt --host 0.0.0.0",
)
_PANEL = "With --python"
_SECRETS = ("MCPFRAME_STORAGE", "MCPFRAME_STATE_KEYS")
"""The variables of options that may have a password or a key."""


def serve(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FOLDER",
            help="A folder that was built into, or that of one bundle; or a project, which is built. By default dist; "
            "with --python the project in this folder.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        list[int] | None,
        options.port("The port, by default 8765; 0 takes a free one. Repeated: the folder at several origins."),
    ] = None,
    python: Annotated[
        bool,
        typer.Option(
            "--python",
            help="Run a project's server in this Python, over Streamable HTTP: no page, no browser. Its requirements "
            "have to be installed; those of a package, or of another SDK's server, are installed for it.",
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, rich_help_panel=_PANEL, help="The number of processes, by default 1."),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            envvar="MCPFRAME_STORAGE",
            show_envvar=True,
            rich_help_panel=_PANEL,
            help="Where session.storage is: a folder, or sqlite:////file or postgresql://user@host/name; by default a "
            "folder of this user.",
        ),
    ] = None,
    state_key: Annotated[
        list[str] | None,
        typer.Option(
            envvar="MCPFRAME_STATE_KEYS",
            show_envvar=True,
            rich_help_panel=_PANEL,
            help="A key of 32 characters or more that seals the state of questions; the same in all processes. May be "
            "repeated: the first seals, all open. A variable separates them by spaces.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            callback=options.is_site,
            rich_help_panel=_PANEL,
            help="The origin of a web page that may ask; may be repeated.",
        ),
    ] = None,
    host: options.Host = options.LOOPBACK,
    public_host: options.PublicHost = None,
    tokens: options.Tokens = None,
    oauth: options.OAuth = None,
    rate_limit: options.RateLimit = None,
    trusted_proxy: options.TrustedProxy = None,
) -> None:
    """Serve a built folder on this machine, with its headers, until Ctrl-C. Or a server in plain Python (--python)."""
    if python:
        from mcpframe.kit.base.extras import need

        need("author", "mcpframe serve --python")
        who = options.access_of(host, public_host, allow_origin, tokens, oauth, rate_limit, trusted_proxy)
        _serve_python(target, port or [], place=storage, access=who, workers=workers or 1, keys=state_key or [])
        return
    options.check_no_access("They need --python.", host, public_host, oauth, rate_limit, trusted_proxy)
    if workers or allow_origin:
        raise typer.BadParameter("The options of this panel need --python.", param_hint=_PANEL)
    from mcpframe.kit.web.serve import serve_app

    target = target or "dist"
    site, pages = _site(target)
    with ExitStack() as stack:
        for each in port or [8765]:
            served = stack.enter_context(serve_app(site, each))
            # Templates allow http://localhost; a page at 127.0.0.1 has a different origin.
            address = f"http://localhost:{served.port}"
            for page in pages:
                out.print(f"{address}/{escape(page)}/")
            if not pages:
                out.print(f"{address}/ (no bundle in it: build one with mcpframe build --out {escape(target)})")
        keep_running()


def _site(target: str) -> tuple[ASGIApp, list[str]]:
    """Return the site of a built folder, or of one bundle, and its pages. Any other folder is served unchanged."""
    from mcpframe.kit.base.errors import ConfigError, ServeError
    from mcpframe.kit.cli.shared.served_target import bundles_of
    from mcpframe.kit.servers.bundle_site import BundleSite
    from mcpframe.kit.servers.named_server import Built, Published, named_server
    from mcpframe.kit.web.site import Site

    folder = Path(target).expanduser()
    try:
        named = named_server(target)
    except ConfigError:
        if folder.is_dir():
            return Site(folder), sorted(page.parent.name for page in folder.glob("*/index.html"))
        raise
    if isinstance(named, Published):
        raise ServeError(f"{target} is an address, which is served already: give a folder.")
    if isinstance(named, Built) and folder.resolve() == named.root:
        return Site(named.root), sorted(named.names)
    [bundle] = bundles_of(named, pages=True, progress=step)
    return BundleSite.of(bundle), [bundle.name]


def _serve_python(target: str | None, ports: list[int], *, place: str | None, **more: Any) -> None:
    """Serve a project in plain Python."""
    import platformdirs

    from mcpframe.kit.plain_python.options import PlainOptions
    from mcpframe.kit.plain_python.run import serve_python
    from mcpframe.kit.servers.named_server import named_project
    from mcpframe.kit.storage.opening import is_database

    if len(ports) > 1:
        raise typer.BadParameter("With --python, one port is enough: clients name an address.", param_hint="--port")
    project = named_project(target or ".").absolute()
    place = place or str(platformdirs.user_data_path("mcpframe", appauthor=False) / "values")
    if not is_database(place):
        place = str(Path(place).expanduser().absolute())
    for name in _SECRETS:  # the author's code and its programs need none of them
        os.environ.pop(name, None)
    serve_python(PlainOptions(project, place, **more), ports[0] if ports else 8765, _listens, step)


def _listens(address: str) -> None:
    out.print(escape(address))
    out.print("Ctrl-C stops it.")
