"""The command line: `mcpframe build`, `mcpframe serve`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from mcpframe.frame.errors import McpFrameError

if TYPE_CHECKING:
    from mcpframe.kit.bundle import BuildResult

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Write an MCP server in Python, publish it as a static page that runs it in the browser.",
)
_err = Console(stderr=True, highlight=False, soft_wrap=True)
_out = Console(highlight=False, soft_wrap=True)


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, help="Show the version and exit.", callback=lambda on: _version(on)),
    ] = False,
) -> None:
    pass


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcpframe {version('mcpframe')}")
        raise typer.Exit


@app.command()
def build(
    path: Annotated[Path, typer.Argument(help="A server's folder, its pyproject.toml, or its Python file.")] = Path(),
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to build into; bundles may share one.")] = Path(
        "dist"
    ),
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Resolve the requirements anew and renew the lock.")
    ] = False,
    snapshot: Annotated[
        bool | None,
        typer.Option(
            help="Take a snapshot of Python's memory for the page to start from, in a headless browser (yes)."
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="An origin that may embed the server, instead of the configured ones; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build a server into static files that any web server can serve."""
    from mcpframe.kit.bundle import build as build_bundle  # each command imports what it needs: both take a while

    result = build_bundle(
        path,
        out,
        upgrade=upgrade,
        snapshot=snapshot,
        allowed_origins=allow_origin,
        progress=_silently if as_json else _step,
    )
    for warning in result.warnings:
        _err.print(f"[yellow]warning:[/] {escape(warning)}")
    if as_json:
        typer.echo(json.dumps(_described(result), indent=2))
        return
    tools = [tool["name"] for tool in result.tools or []]
    state = "Unchanged" if result.unchanged else "Built"
    _out.print(f"[green]{state}[/] {escape(str(result.folder))}")
    if result.tools is not None:
        _out.print(f"  tools        {escape(', '.join(tools)) or 'none'}")
    _out.print(f"  embedded by  {escape(', '.join(result.manifest['allowed_origins'])) or 'opaque origins only'}")
    _out.print(f"  first visit  {result.sizes['first_visit'] / 1e6:.1f} MB (gzip)")
    _out.print(f"  the page     {escape(result.manifest['start'])}")
    _out.print(f"  look at it   mcpframe serve {escape(str(out))}, then open {escape(result.url_path)}")


def _described(result: BuildResult) -> dict[str, object]:
    return {
        "name": result.name,
        "folder": str(result.folder),
        "url_path": result.url_path,
        "unchanged": result.unchanged,
        "tools": result.tools,
        "allowed_origins": result.manifest["allowed_origins"],
        "sizes": result.sizes,
        "warnings": list(result.warnings),
    }


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(help="A folder that was built.")] = Path("dist"),
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8765,
) -> None:
    """Serve a built folder on this machine, with its headers, until Ctrl-C."""
    from mcpframe.kit.serve import serve_folder

    with serve_folder(folder, port) as served:
        pages = sorted(path.parent.name for path in folder.glob("*/index.html"))
        for page in pages:
            _out.print(f"{served.origin}/{escape(page)}/")
        if not pages:
            _out.print(f"{served.origin}/ (no bundle in it: build one with mcpframe build --out {escape(str(folder))})")
        _out.print("Ctrl-C stops it.")
        while True:
            time.sleep(3600)


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Show a step on a terminal while it lasts, and leave a line with its duration."""
    start = time.monotonic()
    if _err.is_terminal:
        with _err.status(escape(what)):
            yield
    else:
        yield
    _err.print(f"[dim]{escape(what)}: {time.monotonic() - start:.1f} s[/]")


@contextmanager
def _silently(_what: str) -> Iterator[None]:
    yield


def main() -> None:
    """Run the command line. Exits with 0; 1 on an error, told in one sentence; 2 on wrong usage; 130 on Ctrl-C."""
    try:
        app(standalone_mode=True)
    except McpFrameError as error:
        message, _, details = str(error).partition("\n")
        _err.print(f"[bold red]error:[/] {escape(message)}")
        if details:
            _err.print(escape(details))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
