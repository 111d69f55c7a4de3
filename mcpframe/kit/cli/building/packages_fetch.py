"""The command `mcpframe packages fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out, step

app = typer.Typer(name="packages", help="Packages with native code, such as numpy.", no_args_is_help=True)


@app.callback()
def packages() -> None:
    """Packages with native code, such as numpy."""


@app.command(epilog=examples("mcpframe packages fetch numpy pandas --to mirror"))
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", callback=options.are_packages, help="Packages, such as numpy.")
    ],
    to: Annotated[Path, typer.Option(callback=options.is_writable_folder, help="The folder to make or to add to.")],
    distribution: Annotated[
        str | None,
        typer.Option(metavar="FOLDER|ADDRESS", help="The source of the packages; by default Pyodide's CDN."),
    ] = None,
) -> None:
    """Fetch packages of Pyodide's distribution with all they need, for builds on machines without its CDN.

    Builds take them from the folder if it is their `distribution`.
    """
    from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
    from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
    from mcpframe.kit.project.pyproject import read_config

    given = read_config({"distribution": distribution}, "distribution given to packages fetch").distribution
    packages = PyodidePackages(ensure_runtime(progress=step), given)
    with step(f"Fetching from {packages.source}"):
        files = packages.fetch_into(to, names)
    out.print(f"[green]Fetched[/] {len(files)} files into {escape(str(to))}: {escape(', '.join(files))}")
    out.print(f"  build with   mcpframe build --distribution {escape(str(to))}")
