"""The author's files that a bundle contains: an allow-list. For mcpframe's own see `own_modules`.

From a project: the Python files of its source folder, without tests, hidden files, virtual environments and build
output, and the declared assets. From a single file: that file and the modules beside it that it imports.

Assets are for both sides of a page: Python opens them as files, JavaScript and HTML fetch them by URL. Those for the
browser alone (scripts, style sheets, web fonts) are not sent a second time for Python.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcpframe.frame.core.limits import FIRST_PAINT_BYTES
from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.pyodide.archive import most_unpacked
from mcpframe.kit.project.project import Project

_NOT_SOURCE = frozenset({"tests", "test", "build", "dist", "docs", "node_modules", "venv", "env", "__pycache__"})
_NOT_SHIPPED = re.compile(r"(test_.*|.*_test|conftest|setup|noxfile)\.py$")
_PRIVATE = re.compile(r"(pyproject\.toml|uv\.lock|.*mcpframe(\.python)?\.lock|.*\.pem|.*\.key|id_[a-z0-9]+)$")
_COMPRESSED = (".gz", ".br", ".zst")  # web servers look for these beside a file
_SAMPLE = frozenset({"arguments", "result"})
_BROWSERS_ONLY = (".js", ".mjs", ".css", ".woff", ".woff2")


def author_files(project: Project, out: Path) -> dict[str, bytes]:
    """Return the author's files, by path relative to the source folder.

    Args:
        out: The output folder, which may be inside the project.

    Raises:
        BuildError: A file cannot be read, or they exceed the limits of `unpacking`.
        ConfigError: An asset pattern matches nothing, or a file that must not be published; or a symbolic link leads
            out of the project.
    """
    paths = list(_imported(project) if project.single else _sources(project, project.source, out))
    files = {path.relative_to(project.source).as_posix(): path for path in paths}
    files |= {name: path for name, path in _declared(project, out).items() if not name.endswith(_BROWSERS_ONLY)}
    return _read_all(project, files)


def page_files(project: Project, out: Path, packages: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the files that the page fetches by URL: assets, style sheets and files of npm packages, by path.

    Args:
        out: The output folder, which may be inside the project.
        packages: The files of npm packages.

    Raises:
        BuildError: A file cannot be read, or they exceed the limits of `unpacking`.
        ConfigError: A pattern matches nothing, or a file that must not be published.
    """
    declared, packages = _declared(project, out), packages or {}
    if both := sorted(declared.keys() & packages.keys()):
        raise ConfigError(
            f"{project.file}: {both[0]} is both a file of the project and one of tool.mcpframe.npm: rename the folder."
        )
    files = {**_read_all(project, declared), **packages}
    for name in sorted(files):
        for ending in _COMPRESSED:
            if f"{name}{ending}" in files:
                raise ConfigError(
                    f"{project.file}: {name} and {name}{ending} cannot both be published: web servers send the second "
                    "as the compressed form of the first. Rename one of them."
                )
    return dict(sorted(files.items()))


def first_paint(project: Project) -> str:
    """Return the HTML that the project's view shows until it has drawn; empty if there is none of its own.

    Raises:
        BuildError: The file cannot be read.
        ConfigError: It is too large, or not text in UTF-8.
    """
    name = project.config.app.first_paint
    if name is None:
        return ""
    data, key = _read(project.root / name), f"{project.file}: tool.mcpframe.app.first_paint: {name}"
    if len(data) > FIRST_PAINT_BYTES:
        raise ConfigError(
            f"{key} has {len(data):,} bytes: it is part of a view's text, so keep it below {FIRST_PAINT_BYTES:,}."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key} is not text in UTF-8: save it as that.") from error


def sample_call(project: Project) -> dict[str, Any] | None:
    """Return the tool call that the inspector shows in the project's view; None if there is none.

    Raises:
        BuildError: The file cannot be read.
        ConfigError: It is not a JSON object with the objects `arguments` and `result`, or has anything else.
    """
    name = project.config.app.sample
    if name is None:
        return None
    try:
        sample = json.loads(_read(project.root / name))
    except ValueError:
        sample = None
    is_call = isinstance(sample, dict) and all(isinstance(each, dict) for each in sample.values())
    if not is_call or sample.keys() - _SAMPLE:
        raise ConfigError(
            f"{project.file}: tool.mcpframe.app.sample: {name} is not a tool call: write a JSON object with the "
            'objects "arguments" and "result".'
        )
    call: dict[str, Any] = sample
    return call


def page_icons(project: Project, out: Path) -> dict[str, bytes]:
    """Return the project's icons for an installed page, by path; see `page_files`."""
    paths = [path for pattern in project.config.icons for path in _assets(project, "icons", pattern, out)]
    return {_name(project, path): _read(path) for path in paths}


def style_paths(project: Project) -> list[str]:
    """Return the paths of the page's style sheets in the folder of assets, in their order."""
    return [_name(project, project.root / style) for style in project.config.styles]


def _declared(project: Project, out: Path) -> dict[str, Path]:
    """Return the files of `assets` and `styles`, by path relative to the source folder, or else to the project's."""
    paths: dict[str, Path] = {}
    for key, patterns in (("assets", project.config.assets), ("styles", project.config.styles)):
        for pattern in patterns:
            paths |= {_name(project, path): path for path in _assets(project, key, pattern, out)}
    return paths


def _name(project: Project, path: Path) -> str:
    base = project.source if path.is_relative_to(project.source) else project.root
    return path.relative_to(base).as_posix()


def _sources(project: Project, folder: Path, out: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the Python files of a folder and its subfolders. Links that lead back to a parent folder are skipped.

    Args:
        out: The output folder.
        above: The resolved parent folders.
    """
    above |= {folder.resolve()}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path == out:
            continue
        if path.is_dir():
            if path.name in _NOT_SOURCE or (path / "pyvenv.cfg").exists() or _is_output(path):
                continue
            if path.resolve() not in above:
                yield from _sources(project, path, out, above)
        elif path.suffix == ".py" and path.is_file() and not _NOT_SHIPPED.match(path.name):
            yield _within(project, path)


def _within(project: Project, path: Path) -> Path:
    """Return a source file, after checking that it may be published.

    Raises:
        ConfigError: It is a link to a file outside of the project, or to a private file in it.
    """
    if _is_private(project, path):
        raise ConfigError(
            f"{path} is a link to {path.resolve()}, which must not be published: it is outside of {project.root}, or "
            "hidden in it. Put a copy in its place, or remove it."
        )
    return path


def _is_private(project: Project, path: Path) -> bool:
    """Return whether a path leads to a file outside of the project, or to a private file such as a key."""
    target, root = path.resolve(), project.root.resolve()
    if not target.is_relative_to(root):
        return True
    return any(part.startswith(".") for part in target.relative_to(root).parts) or bool(_PRIVATE.match(target.name))


def _is_output(folder: Path) -> bool:
    return (folder / "_mcpframe").is_dir()


def _imported(project: Project) -> Iterator[Path]:
    """Yield a script, and the modules and packages beside it that it imports, directly or indirectly."""
    script = project.single
    assert script is not None
    modules: set[Path] = set()
    open_files = [script]
    while open_files:
        path = open_files.pop()
        if path in modules:
            continue
        modules.add(path)
        for name in _import_names(path):
            module, package = script.parent / f"{name}.py", script.parent / name
            if module.is_file():
                open_files.append(_within(project, module) if module != script else module)
            elif (package / "__init__.py").is_file():
                open_files.extend(_sources(project, package, script.parent / "dist"))
    yield from sorted(modules)


def _import_names(path: Path) -> set[str]:
    try:
        tree = ast.parse(_read(path), path.name)
    except SyntaxError as error:
        raise BuildError(f"{path}, line {error.lineno}: {error.msg}.") from None
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def _assets(project: Project, key: str, pattern: str, out: Path) -> list[Path]:
    matched = []
    for path in sorted(project.root.glob(pattern)):
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            inside = file.relative_to(project.root).parts
            if not file.is_file() or any(part.startswith(".") for part in inside) or file.is_relative_to(out):
                continue
            if _is_private(project, file) or _PRIVATE.match(file.name):
                raise ConfigError(
                    f"{project.file}: tool.mcpframe.{key}: {pattern!r} matches {file}, which must not be published; "
                    "narrow the pattern."
                )
            matched.append(file)
    if not matched:
        raise ConfigError(f"{project.file}: tool.mcpframe.{key}: {pattern!r} matches no file below {project.root}.")
    return matched


def _read_all(project: Project, paths: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the content of files, once their sizes are known to be within the limits of `unpacking`."""
    limit = max(most_unpacked(), project.config.max_unpacked * 1_000_000)
    sizes = {name: _size(path) for name, path in paths.items()}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    what = ""
    if sizes and sizes[largest] > limit / 4:
        what = f"{largest} has {sizes[largest] / 1e6:,.0f} MB, and {limit / 4e6:g} are allowed for a file"
    elif sum(sizes.values()) > limit:
        what = (
            f"its files have {sum(sizes.values()) / 1e6:,.0f} MB together, {largest} the most of them, and "
            f"{limit / 1e6:g} are allowed"
        )
    if what:
        raise BuildError(
            f"{project.file}: {what}, as every visitor loads them: leave it out of tool.mcpframe.assets and fetch it "
            "when it is needed, or allow more with tool.mcpframe.max_unpacked (build --max-unpacked)."
        )
    return {name: _read(paths[name]) for name in sorted(paths)}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise BuildError(f"{path} cannot be read: {error.strerror}.") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BuildError(f"{path} cannot be read: {error.strerror}.") from error
