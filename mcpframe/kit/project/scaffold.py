"""Create a project from a template, in one go or not at all."""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.cache import clear_leftovers, new_folder
from mcpframe.kit.base.errors import ScaffoldError
from mcpframe.kit.base.locking import locked
from mcpframe.kit.project.template_files import DEFAULT, template_files


def scaffold(name: str, *, template: str = DEFAULT, parent: Path | None = None) -> Path:
    """Create a project in a folder of its name.

    Args:
        name: The name of the project and of its folder.
        template: One of `template_names()`.
        parent: The folder to create it in; by default the current one.

    Returns:
        The folder.

    Raises:
        ScaffoldError: The name is invalid, the template does not exist, or the folder is not empty.
        WriteError: The folder cannot be written; nothing is left of it.
    """
    files = template_files(name, template)
    folder = (parent or Path.cwd()) / name
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} exists and is not empty: choose another name, or move it away.")
    with locked(folder):
        clear_leftovers(folder)
    with new_folder(folder) as target:
        for path, data in files.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(data)
    folder.chmod(0o755)  # `new_folder` creates it for its owner only
    return folder
