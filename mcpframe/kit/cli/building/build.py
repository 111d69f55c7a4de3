"""`mcpframe build`: a bundle, and what its author should know of it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.base.extras import need
from mcpframe.kit.cli.building.gallery import build_gallery
from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import err, escape, out, silently, some_of, step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.bundle.output_root import BuildResult

EXAMPLES = examples(
    "mcpframe build",
    "mcpframe build my-server --out public --json",
    "mcpframe build my-server --single-file",
    "mcpframe build my-server --pwa",
    "mcpframe build package:mcp-server-time",
    "mcpframe build package:mcp-server-fetch --set csp.connect_src=found",
    "mcpframe build --gallery servers --out public",
)
_MENTIONED = 0.1  # MB


def build(
    path: Annotated[Path, typer.Argument(help=packages.PROJECT_HELP)] = Path(),
    output: Annotated[
        Path,
        typer.Option(
            "--out", "-o", callback=options.is_folder, help="The folder to build into; bundles may share one."
        ),
    ] = Path("dist"),
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Resolve the requirements anew and renew the lock.")
    ] = False,
    snapshot: Annotated[
        bool | None,
        typer.Option(
            help="Whether a snapshot of Python's memory is taken in a headless browser, for pages to start from; by "
            "default where there is one, unless MCPFRAME_SNAPSHOT is 0."
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="An origin that may embed the server, instead of the configured ones; may be repeated."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="The public address of the bundle's folder, for its views; by default the project's."),
    ] = None,
    settings: packages.Settings = None,
    build_sdists: options.BuildSdists = False,
    max_unpacked: Annotated[
        int | None,
        typer.Option(
            min=64,
            max=4000,
            metavar="MB",
            help="What the wheels may unpack to, and the project's own files may have, and each file a quarter of it; "
            "by default the project's, 512.",
        ),
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|ADDRESS",
            help="The source of packages with native code, such as numpy; by default the project's, or Pyodide's CDN.",
        ),
    ] = None,
    single_file: Annotated[
        bool,
        typer.Option(
            "--single-file",
            help="Write the bundle as one HTML file, too, beside its folder; it needs no other file.",
        ),
    ] = False,
    pwa: Annotated[
        bool,
        typer.Option(
            "--pwa",
            help="Make the server's own page, in a tab, one that can be installed and works without a network.",
        ),
    ] = False,
    inspector: Annotated[
        bool,
        typer.Option(
            "--inspector",
            help="Build the inspector beside it, too: the server's own page leads there, and pages of its site may "
            "embed it.",
        ),
    ] = False,
    gallery: Annotated[
        bool,
        typer.Option(
            "--gallery",
            help="Build the servers of all folders in the given one, and a page on which each can be tried. The "
            "gallery's pages may embed them, too.",
        ),
    ] = False,
    pictures: Annotated[
        bool,
        typer.Option(
            "--pictures/--no-pictures",
            help="With --gallery: take a picture of each server whose project has none, with Chromium.",
        ),
    ] = True,
    keep_deploys: options.KeepDeploys = 0,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print what stops or limits the server: the chain of requirements, and the place in the code.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build a server into static files that any web server can serve.

    Somebody else's package becomes a project in ./NAME first, which can be edited.
    """
    need("author", "mcpframe build")
    progress = silently if as_json else step
    keep = timedelta(hours=keep_deploys) if keep_deploys else None
    if gallery:
        build_gallery(
            path,
            output,
            upgrade=upgrade,
            snapshot=snapshot,
            allow_origin=allow_origin,
            distribution=distribution,
            pictures=pictures,
            keep=keep,
            as_json=as_json,
            for_one_server={
                "--url": url,
                "--set": settings,
                "--build-sdists": build_sdists,
                "--max-unpacked": max_unpacked,
                "--single-file": single_file,
                "--pwa": pwa,
                "--explain": explain,
            },
            progress=progress,
        )
        return
    from mcpframe.kit.bundle.pipeline import build as build_bundle  # a slow import

    with ExitStack() as stack:
        package, folder = _project(
            stack, str(path), settings, upgrade=upgrade, build_sdists=build_sdists, progress=progress
        )
        if explain:
            stack.enter_context(packages.explaining(folder))
        result = build_bundle(
            folder,
            output,
            upgrade=upgrade,
            snapshot=snapshot,
            allowed_origins=allow_origin,
            url=url,
            max_unpacked=max_unpacked,
            distribution=distribution,
            build_sdists=build_sdists,
            beside_inspector=inspector,
            installable=pwa,
            keep=keep,
            progress=progress,
        )
        if inspector:
            from mcpframe.kit.publish.inspector import build_inspector

            build_inspector(output, [result], progress=progress)
        page = None
        if single_file:
            from mcpframe.kit.bundle.output_root import write_single_file

            with progress("Writing one file"):
                page = write_single_file(result.folder.parent, result.name)
    for warning in result.warnings:
        err.print(f"[yellow]warning:[/] {escape(warning)}")
    outlook = None
    if package:
        with progress("Looking at the package's code"):
            outlook = packages.read_outlook(package, folder)
    limits = packages.explained(folder) if explain else ()
    if as_json:
        code = {"code": asdict(outlook)} if outlook else {}
        extra: dict[str, object] = {"limits": [asdict(limit) for limit in limits]} if explain else {}
        if page:
            extra["single_file"] = {"path": str(page), "bytes": page.stat().st_size}
        typer.echo(json.dumps(_described(result) | code | extra, indent=2))
        return
    _print_bundle(result)
    if page:
        out.print(f"  in one file  {escape(str(page))}, {page.stat().st_size / 1e6:.1f} MB")
    if outlook is not None:
        packages.print_outlook(outlook, folder)
    packages.print_limits(limits)
    out.print(f"  look at it   mcpframe serve {escape(str(output))}, then open {escape(result.url_path)}")
    if bridged := _bridged(result):
        out.print(f"  bridge it    {escape(bridged)}")


def _project(
    stack: ExitStack, word: str, settings: list[str] | None, *, upgrade: bool, build_sdists: bool, progress: Progress
) -> tuple[str, Path]:
    """Return the name of a package, or an empty one, and the project to build.

    The project of a package that cannot be locked is removed when the stack ends.
    """
    from mcpframe.kit.project.packaged import default_folder
    from mcpframe.kit.servers.named_server import named_project

    if package := packages.package_of(word, settings):
        folder = default_folder(package)
        stack.enter_context(packages.removed_without_lock(folder))
        given = [*(settings or ()), *(["build_sdists=true"] if build_sdists else [])]
        packages.make_project(package, folder, given, upgrade=upgrade, progress=progress)
        return package, folder
    return "", named_project(word)


def _print_bundle(result: BuildResult) -> None:
    tools = [tool["name"] for tool in result.tools or []]
    state = "Unchanged" if result.unchanged else "Built"
    out.print(f"[green]{state}[/] {escape(str(result.folder))}")
    if result.tools is not None:
        out.print(f"  tools        {some_of(tools) or 'none'}")
    out.print(f"  embedded by  {escape(_embedders(result))}")
    if offered := result.manifest.get("dialects"):
        out.print(f"  offers       {', '.join(offered)}")
    later = result.sizes.get("after_start", 0) / 1e6
    out.print(
        f"  first visit  {result.sizes['first_visit'] / 1e6:.1f} MB (gzip)"
        + (f", and {later:.1f} MB in the background once it serves" if later >= _MENTIONED else "")
    )
    from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES

    own = result.sizes.get("own", 0) / 1e6
    layers = (result.manifest.get("snapshot") or {}).get("layers", ())
    others = " with its requirements" if PACKAGES in layers else " of this site"
    out.print(f"  more visits  {own:.2f} MB after a change of the server, and for visitors of another one{others}")
    out.print(f"  the page     {escape(result.manifest['start'])}")
    if place := _place(result.manifest):
        out.print(f"  runs in      {escape(place)}")
    if result.manifest.get("installable"):
        from mcpframe.kit.publish.bundle_checks.installed import offline_files

        out.print(f"  installed    its own tab can be; {offline_files(result.manifest)} work without a network")
    if view := result.manifest.get("app"):
        out.print(f"  as a view    {view['files']['app']}, of {escape(view['url'])}")
    for note in result.notes:
        out.print(f"  chosen       {escape(note)}")


def _bridged(result: BuildResult) -> str:
    """Return the ways to use the server from any MCP client; empty if it cannot be bridged."""
    from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
    from mcpframe.kit.servers.published import allows, not_offered

    if result.manifest.get("kind") == "page" or not_offered(result.manifest):
        return ""
    command = f"mcpframe bridge {result.folder}"
    if allows(result.manifest, HOST_ORIGIN):
        return f"{command}, or its address"
    return f"{command}; its address only with {HOST_ORIGIN} in allowed_origins"


def _embedders(result: BuildResult) -> str:
    from mcpframe.kit.bundle.assembly.built_manifest import origins_of
    from mcpframe.kit.bundle.assembly.offered import needs_hosts
    from mcpframe.kit.servers.published import offered_by

    origins, offered = origins_of(result.manifest), offered_by(result.manifest)
    named = [", ".join(origins.common)] if origins.common else []
    named += [f"{', '.join(own) or 'nobody'} ({name})" for name, own in origins.own.items() if own or name in offered]
    if named or result.manifest["kind"] != "page":
        return "; ".join(named) or ("opaque origins only" if needs_hosts(offered) else "nobody: it serves its own tab")
    return "nobody: it is a page of its own"


def _described(result: BuildResult) -> dict[str, object]:
    return {
        "name": result.name,
        "folder": str(result.folder),
        "url_path": result.url_path,
        "unchanged": result.unchanged,
        "tools": result.tools,
        "allowed_origins": result.manifest["allowed_origins"],
        "dialect_origins": result.manifest.get("dialect_origins", {}),
        "dialects": result.manifest.get("dialects", []),
        "sizes": result.sizes,
        "warnings": list(result.warnings),
        "notes": list(result.notes),
    }


def _place(manifest: Mapping[str, Any]) -> str:
    """Return the place where a server runs, for people; empty for one that needs its page."""
    if manifest.get("runs_in") == "worker":
        return "a worker: a tool that computes can be stopped, and blocks no page"
    if manifest.get("could_run_in_worker"):
        return 'its page, which a tool that computes blocks; runs_in = "worker" in [tool.mcpframe] prevents that'
    return ""
