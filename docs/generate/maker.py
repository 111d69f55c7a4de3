"""Writes what the playground makes ready bundles with: the pure part of the build, as files of a server in a page.

`static/playground/making.js` fetches them when a bundle is asked for, and `static/playground/maker` is what runs them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution, version
from pathlib import Path

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle.assembly.own_modules import own_sources
from mcpframe.kit.bundle.assembly.page_scripts import SOURCES
from mcpframe.kit.bundle.code.imports import imports_in, syntax_tree
from mcpframe.kit.bundle.pyodide.job_texts import job_text, job_texts

_PACKAGE = Path(__file__).resolve().parents[2] / "mcpframe"
_ROOT = "mcpframe.kit.bundle.assembly.ready_bundle"
_LIBRARIES = ("jinja2", "markupsafe", "packaging")
"""What the pure part of the build imports, and the donor lacks."""
_FOLDERS = ("page", "app")
_DESCRIBING = "playground_import_server.py"


def write_maker(target: Path) -> None:
    """Write the files into a folder, as one file of JSON: `texts` by path, and `bytes` as Base64."""
    files = maker_files()
    texts: dict[str, str] = {}
    others: dict[str, str] = {}
    for path, data in files.items():
        try:
            texts[path] = data.decode()
        except UnicodeDecodeError:
            others[path] = base64.b64encode(data).decode()
    target.mkdir(parents=True, exist_ok=True)
    (target / "files.json").write_text(json.dumps({"texts": texts, "bytes": others}), "utf-8")


def maker_files() -> dict[str, bytes]:
    """Return the files, by path in the folder of a server's files in a page."""
    own = static_dir() / "playground" / "maker"
    number = version("mcpframe")
    metadata = f"Metadata-Version: 2.1\nName: mcpframe\nVersion: {number}\n"
    return {
        **{path.name: path.read_bytes() for path in sorted(own.glob("*.py"))},
        _DESCRIBING: job_text("import_server").encode(),
        **{f"mcpframe/{path.name}": path.read_bytes() for path in sorted(_PACKAGE.glob("*.py"))},  # the public names
        **own_sources(),
        **{path: text.encode() for path, text in job_texts().items()},
        **dict(_of_kit()),
        **{f"static/{path}": data for path, data in _static().items()},
        **{path: data for name in _LIBRARIES for path, data in _library(name)},
        f"mcpframe-{number}.dist-info/METADATA": metadata.encode(),
    }


def _of_kit() -> Iterator[tuple[str, bytes]]:
    """Yield the modules of the tool chain that the root imports, directly or not, and their packages."""
    waiting, seen = [_ROOT], set[str]()
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name in seen or path is None or not name.startswith("mcpframe.kit"):
            continue
        seen.add(name)
        inner, data = path.relative_to(_PACKAGE.parent).as_posix(), path.read_bytes()
        yield inner, data
        tree = syntax_tree(data)
        assert tree is not None
        found = [item for item in imports_in(tree, inner) if not item.typing]
        waiting += [name.rpartition(".")[0], *(item.module for item in found)]
        waiting += [f"{item.module}.{item.name}" for item in found if item.name]


def _file_of(module: str) -> Path | None:
    base = _PACKAGE.parent.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _static() -> Mapping[str, bytes]:
    """Return the files of pages, and those that a script was bundled from, which the build compares."""
    root = static_dir()
    paths = {path for folder in _FOLDERS for path in (root / folder).rglob("*") if path.is_file()}
    for bundled in SOURCES:
        record = json.loads((root / "page" / bundled).read_text("utf-8").partition("\n")[0].removeprefix("//"))
        paths |= {root / name for name in record["sources"]}
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}


def _library(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the modules of a package, and its licences."""
    for file in distribution(name).files or ():
        if file.suffix == ".py" or "licens" in file.as_posix().lower():
            yield file.as_posix(), Path(str(file.locate())).read_bytes()
