"""Environment variables that packages need in a page; those of the project take precedence."""

from __future__ import annotations

from dataclasses import replace

from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.project.project import Project

_VARIABLES = {
    # By default matplotlib of Pyodide's distribution draws into the page, which tools do not.
    "matplotlib": {"MPLBACKEND": "Agg"},
}


def with_environment(project: Project, lock: Lock) -> Project:
    """Return the project with the variables of its packages."""
    env = {key: value for package in lock.packages for key, value in _VARIABLES.get(package.name, {}).items()}
    return replace(project, package_env=env)
