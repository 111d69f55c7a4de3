"""`mcpframe serve`: a built folder on this machine, served like on a static host."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli import common_options as options
from mcpframe.kit.cli.examples import examples
from mcpframe.kit.cli.output import escape, out, step

if TYPE_CHECKING:
    from starlette.types import ASGIApp

EXAMPLES = examples(
    "mcpframe serve",
    "mcpframe serve public --port 8000 --port 8001",
    "mcpframe serve adder.py",
)


def serve(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="A folder that was built into, or that of one bundle; or a project, which is built."
        ),
    ] = "dist",
    port: Annotated[
        list[int] | None,
        options.port("The port, by default 8765; 0 takes a free one. Repeated: the folder at several origins."),
    ] = None,
) -> None:
    """Serve a built folder on this machine, with its headers, until Ctrl-C."""
    from mcpframe.kit.web.serve import serve_app

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
        out.print("Ctrl-C stops it.")
        while True:
            time.sleep(3600)


def _site(target: str) -> tuple[ASGIApp, list[str]]:
    """Return the site of a built folder, or of one bundle, and its pages. Any other folder is served unchanged."""
    from mcpframe.kit.base.errors import ConfigError, ServeError
    from mcpframe.kit.cli.served_target import bundles_of
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
