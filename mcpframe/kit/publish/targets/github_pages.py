"""GitHub Pages: a workflow that builds the project and publishes it, each action pinned by its commit.

The workflow that runs a project's tests, which `mcpframe new` has written, gets the same mcpframe.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.publish.targets.deployment import BUILDS, TESTS, Deployment, PublishTarget
from mcpframe.kit.publish.targets.own_files import is_own_file
from mcpframe.kit.static_hosts.github_pages import GITHUB_PAGES as HOST

_WORKFLOW = ".github/workflows/pages.yml"
_TESTS_WORKFLOW = ".github/workflows/test.yml"
_INSTALLS = re.compile(r"(?m)^      - run: (pip install .*)$")
_EARLIER = """\
      - uses: actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0
        with: # the earlier builds, whose files pages that are open may still ask for
          path: {folder}
          key: deploys-${{{{ github.run_id }}}}
          restore-keys: deploys-
"""
_PLAIN = re.compile(r"[A-Za-z_./][\w./-]*( [\w./-]+)*")
"""Texts that YAML reads as they are: other ones may be lists, numbers or comments to it."""


def _files(site: Deployment) -> dict[Path, str]:
    root = _repository(site.project)
    command = site.build_command(root)
    folder = site.out.relative_to(root).as_posix()
    earlier = _EARLIER.format(folder=_scalar(folder)) if site.keep else ""
    text = _installing("pages.yml", site.install_command(root), earlier)
    for before, after in (
        ("NAME as in dist/", f"NAME as in {folder}/"),
        ("run: mcpframe build #", f"run: {_scalar(command)} #"),
        ("path: dist\n", f"path: {_scalar(folder)}\n"),
    ):
        text = text.replace(before, after)
    files = {root / _WORKFLOW: text}
    if _has_own_tests(site):
        files[root / _TESTS_WORKFLOW] = _installing("workflow.yml", site.install_command(root, TESTS))
    return files


def _installing(name: str, command: str, before: str = "") -> str:
    """Return the workflow of a new project with a command that installs mcpframe, and further steps before it."""
    text = (static_dir() / "new" / name).read_text("utf-8")
    if " -r " in command:  # there is a path in it; else it is one plain text in YAML
        command = _scalar(command)
    return _INSTALLS.sub(lambda _: f"{before}      - run: {command}", text)


def _has_own_tests(site: Deployment) -> bool:
    """Return whether the project is a repository whose tests run as `mcpframe new` wrote it."""
    return _repository(site.project) == site.project and is_own_file(site.project / _TESTS_WORKFLOW)


def _repository(project: Path) -> Path:
    """Return the root of a project's git repository, where GitHub reads workflows; without one, the project."""
    return next((each for each in (project, *project.parents) if (each / ".git").exists()), project)


def _scalar(text: str) -> str:
    """Return a text as a value in YAML."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _steps(site: Deployment) -> tuple[str, ...]:
    return (
        "once, choose Settings > Pages > Source: GitHub Actions in the repository",
        f"commit {_WORKFLOW}, and push it to the branch main",
        f"the address is then https://OWNER.github.io/REPOSITORY/{site.start_folder}",
    )


def _remarks(site: Deployment) -> tuple[str, ...]:
    return site.install_remarks("github-pages", TESTS if _has_own_tests(site) else BUILDS)


GITHUB_PAGES = PublishTarget("github-pages", HOST, _steps, _files, _remarks)
