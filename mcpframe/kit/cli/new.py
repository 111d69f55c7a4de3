"""`mcpframe new`: a project that works at once."""

from __future__ import annotations

from typing import Annotated

import typer

from mcpframe.kit.cli.output import escape, out
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.scaffold import DEFAULT, scaffold, template_names

EXAMPLES = "Examples:  mcpframe new my-server  |  mcpframe new draw --template mermaid-editor"


def new(
    name: Annotated[str, typer.Argument(help="The project's name; its folder is made here.")],
    template: Annotated[
        str,
        typer.Option("--template", "-t", help="What to begin with.", autocompletion=template_names, show_default=True),
    ] = DEFAULT,
) -> None:
    """Make a project: a server, its tests, a README, a lock and a CI file."""
    folder = scaffold(name, template=template)
    out.print(f"[green]Made[/] {escape(str(folder))}")
    out.print(f"  go there     cd {escape(name)}")
    out.print("  test it      mcpframe test")
    if find_project(folder).config.kind == "page":
        out.print("  build it     mcpframe build")
        out.print("  look at it   mcpframe serve")
        out.print("  read on      README.md: what belongs around it or in it, and at which addresses")
        return
    out.print("  work on it   mcpframe dev")
    out.print("  publish it   mcpframe build, and upload dist/")
