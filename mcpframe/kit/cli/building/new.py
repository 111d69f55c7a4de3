"""`mcpframe new`: a project that works at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out, step
from mcpframe.kit.project.template_files import DEFAULT, VIEW, template_names

EXAMPLES = examples(
    "mcpframe new my-server",
    "mcpframe new draw --template mermaid-editor",
    "mcpframe new dice --view",
    "mcpframe new time --package mcp-server-time",
)


def new(
    name: Annotated[str, typer.Argument(help="The project's name; its folder is made here.")],
    template: Annotated[
        str,
        typer.Option(
            "--template",
            "-t",
            help=f"What to begin with: {', '.join(template_names())}.",
            autocompletion=template_names,
            show_default=True,
        ),
    ] = DEFAULT,
    view: Annotated[
        bool,
        typer.Option("--view", help="A server in plain Python with a view, a page in Python that hosts show."),
    ] = False,
    package: Annotated[
        str | None,
        typer.Option(metavar="NAME[==VERSION]", help="The project of somebody else's package, to be edited and built."),
    ] = None,
    settings: packages.Settings = None,
) -> None:
    """Create a project: a server, its tests, a README, a lock, and workflows for CI and GitHub Pages."""
    from mcpframe.kit.base.extras import need

    need("author", "mcpframe new")
    if view and template not in (DEFAULT, VIEW):
        raise typer.BadParameter(f"--view is a template of its own: leave out --template {template}, or --view.")
    if package is not None or settings:
        _of_package(package or "", Path(name), settings or [])
        return
    from mcpframe.kit.project.project import find_project
    from mcpframe.kit.project.scaffold import scaffold

    folder = scaffold(name, template=VIEW if view else template)
    out.print(f"[green]Made[/] {escape(str(folder))}")
    out.print(f"  go there     cd {escape(name)}")
    out.print("  test it      mcpframe test")
    if find_project(folder).config.kind == "page":
        out.print("  build it     mcpframe build")
        out.print("  look at it   mcpframe serve")
        out.print("  read on      README.md: what belongs around it or in it, and at which addresses")
        return
    out.print("  work on it   mcpframe dev")
    if (folder / "src" / "view.py").is_file():
        out.print("  publish it   mcpframe build, upload dist/, and put its address into server.py")
        return
    out.print("  publish it   mcpframe build, and upload dist/; or push it to GitHub: .github/workflows/pages.yml")


def _of_package(package: str, folder: Path, settings: list[str]) -> None:
    with packages.removed_without_lock(folder):
        packages.make_project(package, folder, settings, progress=step)
    out.print(f"[green]Made[/] {escape(str(folder))}")
    out.print("  change it    pyproject.toml")
    out.print(f"  build it     mcpframe build {escape(str(folder))}")
