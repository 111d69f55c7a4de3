"""`mcpframe build --gallery`: all servers of a folder, and the page on which each can be tried."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcpframe.kit.cli.shared.output import err, escape, out, some_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from mcpframe.kit.base.progress import Progress


def build_gallery(
    folder: Path,
    output: Path,
    *,
    upgrade: bool,
    snapshot: bool | None,
    allow_origin: list[str] | None,
    distribution: str | None,
    pictures: bool,
    keep: timedelta | None,
    as_json: bool,
    for_one_server: Mapping[str, object],
    progress: Progress,
) -> None:
    """Build a gallery, and print what it has.

    Args:
        for_one_server: The given values of the options that only the build of one server has, by option.

    Raises:
        typer.BadParameter: One of them was given.
        typer.Exit: A server could not be built; the others were.
    """
    for option, value in for_one_server.items():
        if value:
            raise typer.BadParameter("is for one server: set it in the project's pyproject.toml.", param_hint=option)
    from mcpframe.kit.publish.gallery.build import build_gallery as build  # a slow import

    gallery = build(
        folder,
        output,
        upgrade=upgrade,
        snapshot=snapshot,
        allowed_origins=allow_origin,
        distribution=distribution,
        pictures=pictures,
        keep=keep,
        progress=progress,
    )
    for result in gallery.results:
        for warning in result.warnings:
            err.print(f"[yellow]warning:[/] {escape(f'{result.name}: {warning}')}")
    if as_json:
        failures = {str(root): str(error) for root, error in gallery.failures.items()}
        servers = [asdict(entry) for entry in gallery.entries]
        typer.echo(json.dumps({"folder": str(gallery.folder), "servers": servers, "failures": failures}, indent=2))
    else:
        out.print(f"[green]Built[/] {escape(str(gallery.folder))}")
        for entry in gallery.entries:
            tools = some_of([tool["name"] for tool in entry.tools]) or "none"
            out.print(f"  {escape(entry.name)}: {escape(tools)}, first visit {entry.megabytes} MB")
        out.print(f"  look at it   mcpframe serve {escape(str(output))}")
    for root, error in gallery.failures.items():
        err.print(f"[red]error:[/] {escape(f'{root} is left out: {error}')}")
    if gallery.failures:
        raise typer.Exit(1)
