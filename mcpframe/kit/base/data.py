"""The data beside the Python code: folders at the top level of a checkout; folders and an archive in a wheel."""

from __future__ import annotations

import zipfile
from importlib.resources.abc import Traversable
from pathlib import Path

from mcpframe.kit.base.errors import KitError

_PACKAGE = Path(__file__).resolve().parents[2]


def static_dir() -> Path:
    """Return the folder with the files that pages need besides Python, one subfolder per kind of page."""
    return data_dir("static")


def page_dir() -> Path:
    """Return the folder with the files of a framed page: its template, styles and scripts."""
    return static_dir() / "page"


def templates_dir() -> Path:
    """Return the folder with the template servers of a checkout, one per subfolder.

    Raises:
        KitError: mcpframe is installed from a wheel, which has them in an archive: see `templates`.
    """
    return checkout_dir() / "templates"


def templates() -> Traversable:
    """Return the templates, one per subfolder: in the wheel's archive, or in a checkout.

    Raises:
        KitError: They are in neither place: the installation is incomplete.
    """
    archive = projects_archive()
    return data_dir("templates") if archive is None else zipfile.Path(archive, "templates/")


def projects_archive() -> Path | None:
    """Return the archive of the templates and the inspector in a wheel (`hatch_build.py`); None in a checkout."""
    archive = _PACKAGE / "_data" / "projects.zip"
    return archive if archive.is_file() else None


HOST_JSON = "host/host-json.js"
"""The module that reads posted messages, for `script_with`."""
PIECES = "hub/pieces.js"
"""The module that posts long texts in pieces, for `script_with`."""


def script_with(name: str, *modules: str) -> str:
    """Return an expression for the function in a file of `static`, with the functions of modules in its scope.

    Args:
        name: The path of the file.
        modules: The paths of the modules. They import nothing.
    """
    *functions, script = ((static_dir() / each).read_text("utf-8") for each in (*modules, name))
    scope = "".join(text.replace("export function", "function") for text in functions)
    return f"(() => {{\n{scope}\nreturn (\n{script.rstrip().rstrip(';')}\n);\n}})()"


def data_dir(name: str) -> Path:
    """Return the data folder `name`: `mcpframe/_data/NAME` in a wheel, or `NAME` beside the package in a checkout.

    Raises:
        KitError: It is in neither place: the installation is incomplete.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise KitError(
        f"mcpframe's folder {name!r} is missing from {_PACKAGE}: the installation is incomplete; reinstall mcpframe."
    )


def checkout_dir() -> Path:
    """Return the root of the checkout this code runs from.

    Raises:
        KitError: mcpframe is installed from a wheel; the operation needs a clone of the repository.
    """
    root = _PACKAGE.parent
    if not (root / "build.py").is_file() or not (root / "package-lock.json").is_file():
        raise KitError("This needs a clone of mcpframe's repository; an installed mcpframe does not include it.")
    return root
