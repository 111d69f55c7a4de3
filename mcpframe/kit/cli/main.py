"""The command line: `mcpframe`. Its commands have their own modules, except `build` and `serve`."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.programs import end_on_signals
from mcpframe.kit.base.terminal import log_visibly, print_any_text
from mcpframe.kit.cli import bridge as commands_bridge
from mcpframe.kit.cli import (
    call,
    check,
    dev,
    inspect,
    install,
    listing,
    new,
    packages_fetch,
    proxy,
    run,
    serve,
    testing,
)
from mcpframe.kit.cli import common_options as options
from mcpframe.kit.cli import hub as commands_hub
from mcpframe.kit.cli import package as packages
from mcpframe.kit.cli.examples import examples
from mcpframe.kit.cli.output import err as _err
from mcpframe.kit.cli.output import escape, print_error, some_of
from mcpframe.kit.cli.output import out as _out
from mcpframe.kit.cli.output import silently as _silently
from mcpframe.kit.cli.output import step as _step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpframe.kit.bundle import BuildResult

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Write an MCP server in Python, publish it as a static page that runs it in the browser.",
)

_MENTIONED = 0.1  # MB
_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]  # UsageError, which typer does not export

# One line per command, named after its function unless a name is given.
app.command(epilog=new.EXAMPLES)(new.new)
app.command(epilog=dev.EXAMPLES)(dev.dev)
app.command("test", epilog=testing.EXAMPLES, context_settings=testing.SETTINGS)(testing.run_tests)
app.command(epilog=check.EXAMPLES)(check.check)
app.command("list", epilog=listing.EXAMPLES)(listing.list_server)
app.command(epilog=call.EXAMPLES)(call.call)
app.command(epilog=inspect.EXAMPLES)(inspect.inspect)
app.command(epilog=run.EXAMPLES)(run.run)
app.command(epilog=serve.EXAMPLES)(serve.serve)

app.command(epilog=proxy.EXAMPLES)(proxy.proxy)

commands_bridge.register(app)
install.register(app)
commands_hub.register(app)
app.add_typer(packages_fetch.app)


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


@app.command(
    epilog=examples(
        "mcpframe build",
        "mcpframe build my-server --out public --json",
        "mcpframe build --package mcp-server-time",
    )
)
def build(
    path: Annotated[Path, typer.Argument(help="A server's folder, its pyproject.toml, or its Python file.")] = Path(),
    out: Annotated[
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
    package: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[==VERSION]",
            help="Build somebody else's package: PATH, by default ./NAME, becomes its project, which can be edited.",
        ),
    ] = None,
    args: Annotated[
        str | None, typer.Option(metavar="WORDS", help="With --package: the arguments of its program, as in a shell.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="With --package: an environment variable, which becomes public with the bundle; may be repeated.",
        ),
    ] = None,
    persist: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="With --package: a file or folder that is kept in the browser for each session, such as "
            "'~/.myserver'; may be repeated.",
        ),
    ] = None,
    connect_src: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="With --package: a host that it may reach, or found for those in its code; may be repeated.",
        ),
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --package: an environment variable that each visitor enters in a setup form, or found for the "
            "keys in its code; may be repeated.",
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --package: a package that it works without, of all requirements; may be repeated.",
        ),
    ] = None,
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
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print what stops or limits the server: the chain of requirements, and the place in the code.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build a server into static files that any web server can serve."""
    from mcpframe.kit.bundle import build as build_bundle  # a slow import
    from mcpframe.kit.project.packaged import default_folder
    from mcpframe.kit.web.named_server import PACKAGE, named_project

    progress = _silently if as_json else _step
    if package is None and str(path).startswith(PACKAGE):
        package, path = str(path).removeprefix(PACKAGE), Path()
    with ExitStack() as stack:
        if package is not None:
            folder = default_folder(package) if path == Path() else path
            stack.enter_context(packages.removed_without_lock(folder))
            path = packages.make_project(
                package,
                folder,
                args,
                env or [],
                origins=allow_origin or [],
                hosts=connect_src or [],
                persist=persist or [],
                leave_out=leave_out or [],
                ask=ask or [],
                build_sdists=build_sdists,
                upgrade=upgrade,
                progress=progress,
            )
            allow_origin = None
        elif args is not None or env or persist or connect_src or leave_out or ask:
            raise typer.BadParameter(
                "only with --package; a project has args, env, visitor_env, persist, leave_out and csp.connect_src in "
                "[tool.mcpframe].",
                param_hint="--args",
            )
        else:
            path = named_project(str(path))

        if explain:
            stack.enter_context(packages.explaining(path))
        result = build_bundle(
            path,
            out,
            upgrade=upgrade,
            snapshot=snapshot,
            allowed_origins=allow_origin,
            url=url,
            max_unpacked=max_unpacked,
            distribution=distribution,
            build_sdists=build_sdists,
            progress=progress,
        )
    for warning in result.warnings:
        _err.print(f"[yellow]warning:[/] {escape(warning)}")
    outlook = None
    if package:
        with progress("Looking at the package's code"):
            outlook = packages.read_outlook(package, path)
    limits = packages.explained(path) if explain else ()
    if as_json:
        more = ({"code": asdict(outlook)} if outlook else {}) | (
            {"limits": list(map(asdict, limits))} if explain else {}
        )
        typer.echo(json.dumps(_described(result) | more, indent=2))
        return
    tools = [tool["name"] for tool in result.tools or []]
    state = "Unchanged" if result.unchanged else "Built"
    _out.print(f"[green]{state}[/] {escape(str(result.folder))}")
    if result.tools is not None:
        _out.print(f"  tools        {some_of(tools) or 'none'}")
    _out.print(f"  embedded by  {escape(_embedders(result))}")
    if offered := result.manifest.get("dialects"):
        _out.print(f"  offers       {', '.join(offered)}")
    later = result.sizes.get("after_start", 0) / 1e6
    _out.print(
        f"  first visit  {result.sizes['first_visit'] / 1e6:.1f} MB (gzip)"
        + (f", and {later:.1f} MB in the background once it serves" if later >= _MENTIONED else "")
    )
    _out.print(f"  the page     {escape(result.manifest['start'])}")
    if place := _place(result.manifest):
        _out.print(f"  runs in      {escape(place)}")
    if app_entry := result.manifest.get("app"):
        _out.print(f"  as a view    {app_entry['files']['app']}, of {escape(app_entry['url'])}")
    for note in result.notes:
        _out.print(f"  chosen       {escape(note)}")
    if outlook is not None:
        packages.print_outlook(outlook, path)
    packages.print_limits(limits)
    _out.print(f"  look at it   mcpframe serve {escape(str(out))}, then open {escape(result.url_path)}")
    if bridged := _bridged(result):
        _out.print(f"  bridge it    {escape(bridged)}")


def _bridged(result: BuildResult) -> str:
    """Return the ways to use the server from any MCP client; empty if it cannot be bridged."""
    from mcpframe.kit.bridge.chromium.tab import HOST_ORIGIN
    from mcpframe.kit.web.published import allows, not_offered

    if result.manifest.get("kind") == "page" or not_offered(result.manifest):
        return ""
    command = f"mcpframe bridge {result.folder}"
    if allows(result.manifest, HOST_ORIGIN):
        return f"{command}, or its address"
    return f"{command}; its address only with {HOST_ORIGIN} in allowed_origins"


def _embedders(result: BuildResult) -> str:
    from mcpframe.kit.bundle.offered import needs_hosts
    from mcpframe.kit.bundle.output.write import origins_of
    from mcpframe.kit.web.published import offered_by

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


def main() -> None:
    """Run the command line. The exit status is 0; 1 after an error; 2 for wrong usage; 130 after Ctrl-C.

    SIGTERM and SIGHUP also end all programs that were started; the status is 143 or 129.
    """
    end_on_signals()
    log_visibly()
    print_any_text()
    try:
        status = app(prog_name="mcpframe", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except _WrongUsage as error:
        _tell_usage(error)
        sys.exit(2)
    except McpFrameError as error:
        print_error(error)
        sys.exit(1)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        _tell_system(error)
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)


def _tell_usage(error: Any) -> None:
    """Print an error in the command line, and how to get help."""
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        _err.print(escape(message))
        return
    command = error.ctx.command_path if error.ctx else "mcpframe"
    end = "" if message.endswith("?") else "."
    _err.print(f"[bold red]error:[/] {escape(message)}{end} See {escape(command)} --help.")


def _tell_system(error: OSError) -> None:
    """Print an error of the operating system that no other code has handled."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        place = f" ({error.filename})" if error.filename else ""
        print_error(WriteError(f"The disk is full{place}: free some space and run this again."))
        return
    if error.filename is None or error.strerror is None:
        raise error
    print_error(WriteError(f"{error.filename}: {error.strerror}."))


def _place(manifest: Mapping[str, Any]) -> str:
    """Return the place where a server runs, for people; empty for one that needs its page."""
    if manifest.get("runs_in") == "worker":
        return "a worker: a tool that computes can be stopped, and blocks no page"
    if manifest.get("could_run_in_worker"):
        return 'its page, which a tool that computes blocks; runs_in = "worker" in [tool.mcpframe] prevents that'
    return ""
