"""`mcpframe run`: a public package by its name, built and opened in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli.serving.inspect import keep_inspecting
from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out, some_of, step

if TYPE_CHECKING:
    from mcpframe.kit.bundle.code.code_limits import Outlook
    from mcpframe.kit.bundle.output_root import BuildResult
    from mcpframe.kit.project.pyproject import McpframeConfig

EXAMPLES = examples(
    "mcpframe run mcp-server-time",
    "mcpframe run excel-mcp-server --set args=stdio",
    "uvx mcpframe run mcp-server-time==2026.10.19",
)


_FOUND = (f"csp.connect_src={packages.FOUND}", f"visitor_env={packages.FOUND}")


def run(
    package: Annotated[str, typer.Argument(metavar="NAME", help="The package, also with a version: NAME==VERSION.")],
    settings: packages.Settings = None,
    port: Annotated[int, options.port("The inspector's port; 0 takes the usual one, or a free one.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the default browser.")] = True,
) -> None:
    """Run somebody else's package in a page, by its name: build it, say what works, and open the inspector.

    Its page may reach the hosts in its own code. The keys that its code reads are entered in a setup form there, and
    stay in the browser. Its project is in the cache: settings of a later run are added to those of earlier ones. Until
    Ctrl-C.
    """
    from mcpframe.kit.base.extras import need

    need("author", "mcpframe run")
    from mcpframe.kit.dev.inspector import serve_inspector
    from mcpframe.kit.project.project import find_project
    from mcpframe.kit.servers.named_server import PACKAGE, package_folder
    from mcpframe.kit.testing.shared_browser import build_for_tests

    package = package.removeprefix(PACKAGE)
    folder = package_folder(package)
    with packages.removed_without_lock(folder):
        packages.make_project(package, folder, [*_FOUND, *(settings or ())], progress=step)
    with packages.explaining(folder):
        result, _ = build_for_tests(folder, progress=step)
    _summarize(result, packages.read_outlook(package, folder), find_project(folder).config)
    with serve_inspector(bundles=[result.folder], port=port, progress=step) as inspecting:
        keep_inspecting(inspecting, inspecting.servers[result.name], open_browser=open_browser)


def _summarize(result: BuildResult, outlook: Outlook | None, config: McpframeConfig) -> None:
    """Print what works, and what does without."""
    tools = [tool["name"] for tool in result.tools or ()]
    out.print(f"[green]{escape(result.name)} starts[/], with {len(tools)} tools")
    out.print(f"  tools      {some_of(tools)}")
    for note in result.notes:
        out.print(f"  chosen     {escape(note)}")
    if config.visitor_env:
        out.print(f"  asks for   {escape(', '.join(config.visitor_env))}: run its setup in the inspector")
    if config.csp.connect_src:
        out.print(f"  may reach  {escape(', '.join(config.csp.connect_src))}")
    for limit in outlook.limits if outlook else ():
        out.print(f"  without    {escape(limit.meaning)}: {escape(limit.name)} in {escape(limit.place)} fails")
