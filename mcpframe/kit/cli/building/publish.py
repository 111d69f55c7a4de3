"""`mcpframe publish`: the configuration of a static host, its limits, and what it costs visitors."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.base.extras import need
from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out

if TYPE_CHECKING:
    from mcpframe.kit.publish.targets.prepare import Prepared

EXAMPLES = examples(
    "mcpframe publish github-pages",
    "mcpframe publish cloudflare my-server --out my-server/dist",
    "mcpframe publish s3 --json",
)


def publish(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST",
            callback=options.is_static_host,
            help="github-pages, netlify, cloudflare, vercel, s3, huggingface, or folder for any other.",
        ),
    ],
    path: Annotated[Path, typer.Argument(help="The project, by default in this folder.")] = Path(),
    output: Annotated[
        Path,
        typer.Option("--out", "-o", callback=options.is_folder, help="The folder that it was built into."),
    ] = Path("dist"),
    keep_deploys: options.KeepDeploys = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write the configuration that a static host needs, beside the project, and check the host's limits.

    Uploads nothing, and needs no account. A file of yours is not overwritten; one that it wrote is renewed.
    """
    need("author", "mcpframe publish")
    from mcpframe.kit.publish.targets.known import TARGETS
    from mcpframe.kit.publish.targets.prepare import deployment_of, prepare

    target = TARGETS[host]
    site = deployment_of(path, output, keep=keep_deploys)
    prepared = prepare(site, target)
    if as_json:
        typer.echo(json.dumps(_described(prepared), indent=2))
    else:
        out.print(f"[green]Ready[/] for {escape(target.host.title)}: {escape(str(site.out))}")
        _print(prepared)


def _print(prepared: Prepared) -> None:
    from mcpframe.kit.publish.targets.costs import BITS_PER_SECOND, seconds_of

    for path, state in prepared.files.items():
        out.print(f"  {state:<12} {escape(str(path))}")
    line = f"{BITS_PER_SECOND / 1e6:.0f} Mbit/s"
    for name, size in prepared.first_visits.items():
        out.print(f"  first visit  {escape(name)}: {size / 1e6:.1f} MB, {seconds_of(size):.1f} s on a line of {line}")
        for cost in prepared.costs[name]:
            more = f"+{cost.megabytes:.1f} MB, " if cost.megabytes else ""
            out.print(f"               {more}+{cost.milliseconds:,.0f} ms {escape(cost.what)}")
    for remark in prepared.remarks:
        out.print(f"  note         {escape(remark)}")
    for step in prepared.steps:
        out.print(f"  next         {escape(step)}")


def _described(prepared: Prepared) -> dict[str, object]:
    return {
        "files": {str(path): state for path, state in prepared.files.items()},
        "first_visits": dict(prepared.first_visits),
        "costs": {name: [asdict(cost) for cost in costs] for name, costs in prepared.costs.items()},
        "remarks": list(prepared.remarks),
        "steps": list(prepared.steps),
    }
