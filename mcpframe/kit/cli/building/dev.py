"""`mcpframe dev`: work on a server and see every change at once."""

from __future__ import annotations

import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import err, escape, out, print_error, step

if TYPE_CHECKING:
    from mcpframe.frame.core.errors import McpFrameError

EXAMPLES = examples(
    "mcpframe dev",
    "mcpframe dev my-server --port 9000 --no-open",
)


def dev(
    path: Annotated[Path, typer.Argument(help=packages.PROJECT_HELP)] = Path(),
    settings: packages.Settings = None,
    port: Annotated[int, options.port("The port of the plain host page; 0 takes 8720, or a free one.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the default browser.")] = True,
) -> None:
    """Serve a project in the inspector; build and reload it on every change, at the same session. Until Ctrl-C."""
    from mcpframe.kit.base.extras import need

    need("author", "mcpframe dev")
    from mcpframe.kit.dev.inspector import serve_inspector
    from mcpframe.kit.dev.reload_channel import DevChannel
    from mcpframe.kit.dev.server import check_path, serve_dev
    from mcpframe.kit.servers.named_server import named_project

    packages.apply_settings(str(path), settings, step)
    path = named_project(str(path))
    check_path(path)
    channel = DevChannel(_say)
    with ExitStack() as stack:
        inspecting = stack.enter_context(serve_inspector(rebuilds=channel, progress=step))
        server = stack.enter_context(
            serve_dev(path, port=port, also=(inspecting.origin, inspecting.sandbox), channel=channel, progress=step)
        )
        if server.first_error:
            print_error(server.first_error)
        inspector = inspecting.url
        if server.server_url:
            inspector = inspecting.url_with(server.server_url, sample=server.sample)
        out.print(f"[green]Serving[/] {escape(inspector)}")
        out.print(f"  host page  {escape(server.url)}")
        out.print("  every change is built and reloaded; Ctrl-C stops it")
        if open_browser:
            webbrowser.open(inspector)
        server.watch(_report)


def _say(line: str) -> None:
    """Print a line that the server has logged or printed, or an error of its tools."""
    err.print(f"[dim]{escape(line)}[/]")


def _report(error: McpFrameError | None, seconds: float) -> None:
    if error is None:
        out.print(f"[green]Built[/] in {seconds:.1f} s")
    else:
        print_error(error)
