"""The files of a new project: those of a template under the project's name, and workflows that test and publish it.

Nothing is written, so that a page can make a project, too.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from importlib.resources.abc import Traversable

from mcpframe.kit.base.data import static_dir, templates
from mcpframe.kit.base.errors import ScaffoldError

DEFAULT = "minimal"
"""The default template."""
VIEW = "view"
"""The template of `mcpframe new --view`: a server in plain Python with a view."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_LEFT_OUT = ("__pycache__", "*.pyc", "dist", "mcpframe-results", ".*")
_ADDED = {
    ".github/workflows/test.yml": "workflow.yml",
    ".github/workflows/pages.yml": "pages.yml",
    ".gitignore": "gitignore.txt",
}
_NAMED = ("pyproject.toml", "README.md", "server.py", "src/view.py")
"""The files with the template's name in them."""


def template_names() -> list[str]:
    """Return the names of all templates."""
    return sorted(each.name for each in templates().iterdir() if each.joinpath("pyproject.toml").is_file())


def template_files(name: str, template: str = DEFAULT) -> dict[str, bytes]:
    """Return the files of a new project, by path in its folder.

    Args:
        name: The name of the project.
        template: One of `template_names()`.

    Raises:
        ScaffoldError: The name is invalid, or the template does not exist.
    """
    if not _NAME.match(name):
        raise ScaffoldError(
            f"{name!r} cannot be a project's name: use letters, digits, '.', '_' and '-', with a letter or digit at "
            "both ends."
        )
    if template not in template_names():
        raise ScaffoldError(f"There is no template {template!r}; there are: {', '.join(template_names())}.")
    files = _files_in(templates().joinpath(template))
    files |= {target: (static_dir() / "new" / source).read_bytes() for target, source in _ADDED.items()}
    return files | {path: _renamed(files[path], template, name) for path in _NAMED if path in files}


def _files_in(folder: Traversable, above: str = "") -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if any(fnmatch(each.name, pattern) for pattern in _LEFT_OUT):
            continue
        if each.is_dir():
            files |= _files_in(each, f"{above}{each.name}/")
        else:
            files[above + each.name] = each.read_bytes()
    return files


def _renamed(data: bytes, template: str, name: str) -> bytes:
    """Return a file with the project's name in place of the template's."""
    text = data.decode().replace("\r\n", "\n").replace(f'name = "{template}"', f'name = "{name}"')
    text = re.sub(rf'(FrameServer|MCPServer)\(\s*"{template}"', lambda found: found[0].replace(template, name), text)
    # Its paths and addresses, and not every `NAME/`: in `ui://NAME/` the server names itself. 8765 is the port of
    # `mcpframe serve`; 8000 and 8001 are those of a page and of what it frames.
    for before in ("dist/", "tools.example/", "localhost:8000/", "localhost:8001/", "localhost:8765/", "`"):
        text = text.replace(f"{before}{template}/", f"{before}{name}/")
    if template in (DEFAULT, VIEW):
        title = re.sub(r"[-_.]+", " ", name).strip()
        old_title = re.sub("-", " ", template).capitalize()
        text = text.replace(f'title = "{old_title}"', f'title = "{title[:1].upper()}{title[1:]}"')
        text = text.replace(f"# {old_title}\n", f"# {title[:1].upper()}{title[1:]}\n")
    return text.encode()
