"""A page whose builds can be told apart, deployed one after the other at one address."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from mcpframe.kit.bundle.output_root import BuildResult
from tests.support.built import build_plain

_PROJECT = """
[project]
name = "deployed"
version = "{build}"
requires-python = ">=3.11"
dependencies = []

[tool.mcpframe]
kind = "page"
title = "Deployed"
assets = ["*.html", "*.js"]
"""
_MAIN = """
from mcpframe import Page

async def main(page: Page) -> None:
    await page.show("page.html")
    page.element("#build").text = "build {build}"
    while True:
        await page.element("#late").event("click")
        module = await page.import_module("late.js")
        page.element("#answer").text = module.late()
"""
_PAGE = '<main><p id="build"></p><button id="late" type="button">Late</button><p id="answer"></p></main>'


def deploy(folder: Path, number: int, *, keep: timedelta | None = None, installable: bool = False) -> BuildResult:
    """Build the page into `folder / "site"`, where an earlier build may be.

    Args:
        folder: The folder of this test.
        number: The number of the build, which the page shows; `late.js` has it, too.
        keep: How long files of the earlier build are kept.
        installable: Whether the page can be installed.
    """
    project = folder / "project"
    project.mkdir(exist_ok=True)
    files = {
        "pyproject.toml": _PROJECT.format(build=number),
        "main.py": _MAIN.format(build=number),
        "page.html": _PAGE,
        "late.js": f'export const late = () => "late of {number}";\n',
    }
    for name, text in files.items():
        (project / name).write_text(text, "utf-8")
    return build_plain(project, folder / "site", keep=keep, installable=installable)
