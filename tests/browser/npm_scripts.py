"""Scripts of `pages` that import packages of `tests/npm`."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked


def beside(packages: str, script: Path) -> Path:
    """Copy a script beside its packages, as imports are resolved from the file's own folder; return the copy.

    It is replaced in one step, as other processes may bundle the same script meanwhile.

    Args:
        packages: The folder of `tests/npm` with its packages.
        script: The script.
    """
    copy = install_locked(checkout_dir() / "tests" / "npm" / packages) / script.name
    write_file(copy, script.read_bytes())
    return copy
