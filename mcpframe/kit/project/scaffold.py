"""Create a project from a template: its files under a new name, a lock, and workflows that test and publish it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from mcpframe.kit.base.cache import clear_leftovers, new_folder
from mcpframe.kit.base.data import static_dir, templates_dir
from mcpframe.kit.base.errors import ScaffoldError
from mcpframe.kit.base.locking import locked

DEFAULT = "minimal"
"""The default template."""
VIEW = "view"
"""The template of `mcpframe new --view`: a server in plain Python with a view."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_LEFT_OUT = ("__pycache__", "*.pyc", "dist", "mcpframe-results", ".*")
_ADDED = {
    "workflow.yml": ".github/workflows/test.yml",
    "pages.yml": ".github/workflows/pages.yml",
    "gitignore.txt": ".gitignore",
}


def template_names() -> list[str]:
    """Return the names of all templates."""
    return sorted(path.parent.name for path in templates_dir().glob("*/pyproject.toml"))


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
    if not _NAME.match(name):
        raise ScaffoldError(
            f"{name!r} cannot be a project's name: use letters, digits, '.', '_' and '-', with a letter or digit at "
            "both ends."
        )
    if template not in template_names():
        raise ScaffoldError(f"There is no template {template!r}; there are: {', '.join(template_names())}.")
    folder = (parent or Path.cwd()) / name
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} exists and is not empty: choose another name, or move it away.")
    with locked(folder):
        clear_leftovers(folder)
    with new_folder(folder) as made:
        shutil.copytree(templates_dir() / template, made, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        for source, target in _ADDED.items():
            (made / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(static_dir() / "new" / source, made / target)
        _rename(made, template, name)
    folder.chmod(0o755)  # `new_folder` creates it for its owner only
    return folder


def _rename(folder: Path, template: str, name: str) -> None:
    """Replace the template's name by the project's."""
    title = re.sub(r"[-_.]+", " ", name).strip()
    title = title[:1].upper() + title[1:]
    old_title = re.sub("-", " ", template).capitalize()
    for path in (folder / file for file in ("pyproject.toml", "README.md", "server.py", "src/view.py")):
        if not path.is_file():
            continue
        text = path.read_text("utf-8")
        text = text.replace(f'name = "{template}"', f'name = "{name}"')
        text = re.sub(
            rf'(FrameServer|MCPServer)\(\s*"{template}"', lambda found: found[0].replace(template, name), text
        )
        # Its paths and addresses, and not every `NAME/`: in `ui://NAME/` the server names itself. 8765 is the port of
        # `mcpframe serve`; 8000 and 8001 are those of a page and of what it frames.
        for before in ("dist/", "tools.example/", "localhost:8000/", "localhost:8001/", "localhost:8765/", "`"):
            text = text.replace(f"{before}{template}/", f"{before}{name}/")
        if template in (DEFAULT, VIEW):
            text = text.replace(f'title = "{old_title}"', f'title = "{title}"')
            text = text.replace(f"# {old_title}\n", f"# {title}\n")
        path.write_text(text, "utf-8", newline="\n")
