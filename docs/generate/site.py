"""Builds the site of `docs` into `site`, strictly: every link and anchor exists, and all files are its own.

Fonts and scripts are beside the pages. The diagrams are drawn by a file of the npm package that a template has pinned.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.npm import npm_files
from mcpframe.kit.project.project import find_project

_SCRIPT = "dist/mermaid.min.js"
_LOADS = r'<(?:script|img|iframe|link rel="?(?:stylesheet|preload|preconnect|icon))'
_FETCHED = re.compile(_LOADS + r'[^>]*?(?:src|href)="?(?:https?:)?//[^">]*')


def render(root: Path, site: Path | None = None) -> None:
    """Run MkDocs, strictly.

    Args:
        root: The folder with `mkdocs.yml`.
        site: The folder to write; by default `site` in there.

    Raises:
        BuildError: MkDocs warns or fails, for example because a link or an anchor leads nowhere.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]  # --quiet would hide the warnings from --strict
    if site:
        command += ["--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise BuildError(f"The site of docs/ is not built: correct what MkDocs reports.\n{done.stdout}{done.stderr}")


def build_site(root: Path) -> list[Path]:
    """Build the site and return its pages.

    Args:
        root: The repository.

    Raises:
        BuildError: A link leads nowhere, or a page fetches something from elsewhere.
        DownloadError: Mermaid could not be fetched.
    """
    site = root / "site"
    template = find_project(root / "templates" / "mermaid-editor")
    mermaid = template.config.npm["mermaid"].model_copy(update={"files": [_SCRIPT]})
    script = npm_files({"mermaid": mermaid}, str(template.file))[f"npm/mermaid/{_SCRIPT}"]
    shutil.rmtree(site, ignore_errors=True)
    render(root)
    (site / "javascripts").mkdir(exist_ok=True)
    (site / "javascripts" / "mermaid.min.js").write_bytes(script)
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        if found := _FETCHED.search(page.read_text("utf-8")):
            raise BuildError(f"{page.relative_to(site)} would fetch something from elsewhere: {found[0]}")
    return pages
