"""The files of mcpframe and of the author that a bundle contains: an allow-list.

From mcpframe: `__init__.py` and `frame/`, and `views/` where the author may use it; nothing of the tool chain. From a
project: the Python files of its source folder, without tests, hidden files, virtual environments and build output, and
the declared assets. From a single file: that file and the modules beside it that it imports.

Assets are for both sides of a page: Python opens them as files, JavaScript and HTML fetch them by URL. Those that only
a browser reads (scripts, style sheets, web fonts) are not sent a second time for Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BuildError, ConfigError
from mcpframe.kit.bundle.npm import npm_files
from mcpframe.kit.project.project import Project

_PACKAGE = Path(__file__).resolve().parent.parent.parent
_NOT_SOURCE = frozenset({"tests", "test", "build", "dist", "docs", "node_modules", "venv", "env", "__pycache__"})
_NOT_SHIPPED = re.compile(r"(test_.*|.*_test|conftest|setup|noxfile)\.py$")
_PRIVATE = re.compile(r"(pyproject\.toml|uv\.lock|.*mcpframe\.lock|.*\.pem|.*\.key|id_[a-z0-9]+)$")
_COMPRESSED = (".gz", ".br", ".zst")  # web servers look for these beside a file
_BROWSERS_ONLY = (".js", ".mjs", ".css", ".woff", ".woff2")


_LEFT_OUT_MODULES = "compat/left_out_modules.py"
_FOR_LINES = frozenset({"compat/absent.py", _LEFT_OUT_MODULES, "compat/stdio.py", "lines.py"})
"""Files of `frame` that server objects of mcp 2.x do not use."""
_FOR_OBJECTS_OF_OTHERS = frozenset({"other_server.py"})
_FOR_MCP_1 = frozenset({"compat/earlier_pydantic.py", "compat/mcp1.py"})
_FOR_FASTMCP = frozenset({"compat/fastmcp_package.py"})
_FOR_WRAPPED = frozenset({"wrapped.py"})
_FOR_VIEWS = frozenset({"app_page.py", "app_shim.py"})
_FOR_HOSTS = frozenset(
    {"app_policy.py", "browser/page_tools.py", "own_ids.py", "page_clients.py", "ui_resource.py", "web_mcp/client.py"}
    | {"browser/frames.py", "find_place.py", "outer.py", "partial_arguments.py", "places.py"}
    | {path.name for pattern in ("app_host*.py", "ui_host*.py") for path in (_PACKAGE / "frame").glob(pattern)}
)
"""Files of what `may_host` looks for, and of nothing else."""
_CLIENTS = (b"tab_client", b"iframe_client", b"model_context_client")
_FRAMING = (
    b"OuterFrame",
    b"POPUP",
    b"mcpframe.frame import",
    b"frame.outer",
    b"find_place",
    b"frame.places",
    b"browser.frames",
    b"partial_arguments",
)
_HOST_NAMES = (b"AppHost", b"UiHost", b"ui_resource", *_CLIENTS, *_FRAMING, b"app_", b"ui_host")
_FOR_PAGES = frozenset({"host_link.py", "page_main.py", "page_server.py"})
_PAGE_NAMES = (b"connect_to_host", b"page_server", b"mcpframe.frame import", b"frame.host_link", b"frame.page_main")
_FOR_HUBS = frozenset(
    path.relative_to(_PACKAGE / "frame").as_posix() for path in (_PACKAGE / "frame" / "hub").rglob("*.py")
)
_FOR_EXTENSIONS = frozenset(
    {"browser/extension_runtime.py"}
    | {f"extension_hub/{path.name}" for path in (_PACKAGE / "frame" / "extension_hub").glob("*.py")}
)
_FOR_APPS = frozenset(
    {"browser/app_tab.py", "hub/app.py"}
    | {f"hub/page/{path.name}" for path in (_PACKAGE / "frame/hub/page").glob("*.py")}
)
_FOR_RELAYS = frozenset({"lines.py", "web_mcp/client.py", "web_mcp/tools.py"})
"""Files of others that the relays of the hub use."""
_EXTENSION_NAME = b"frame.extension_hub"
_APP_NAME = b"frame.hub.app"
_HUB_NAMES = (b"frame.hub", b"import hub", _EXTENSION_NAME)
_FOR_PROGRAMS = frozenset({"console.py", "program_input.py", "program_loops.py"})
_FOR_PROGRAMS_OF_MCP_2 = frozenset({"compat/mcp2_program.py"})
_FOR_HTTP = frozenset(
    {"browser/fetching.py"} | {f"compat/http/{path.name}" for path in (_PACKAGE / "frame/compat/http").glob("*.py")}
)
_FOR_PROCESSES = frozenset(
    {"browser/visitor.py"} | {f"world/{path.name}" for path in (_PACKAGE / "frame/world").glob("*.py")}
)
_FOR_KEPT_FILES = frozenset({"browser/leaving.py", "page_files.py", "persist.py"})
_FOR_WEBMCP = frozenset(
    {"browser/model_context.py"}
    | {f"web_mcp/{path.name}" for path in (_PACKAGE / "frame" / "web_mcp").glob("*.py") if path.name != "client.py"}
)


def own_files(
    version: str,
    *,
    sdk: int = 2,
    program: bool = False,
    fastmcp: bool = False,
    wraps: bool = False,
    views: bool = False,
    hosts: bool = False,
    page: bool = False,
    hub: bool = False,
    extension: bool = False,
    app: bool = False,
    http: bool = False,
    world: bool = False,
    persists: bool = False,
    webmcp: bool = True,
    left_out: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """Return mcpframe's files for the page, by path in site-packages, with the metadata that installers need.

    Args:
        version: The version of mcpframe.
        sdk: The major version of the official SDK in the bundle.
        program: Whether the entry is a console script.
        fastmcp: Whether the package fastmcp is in the bundle.
        wraps: Whether the author's code may call `mcpframe.wrap`.
        views: Whether the author's code may use `mcpframe.views`.
        hosts: Whether the author's code may be a host of pages: see `may_host`.
        page: Whether the bundle is a page, or the author's code may use what pages use: see `may_be_page`.
        hub: Whether the author's code names the hub: see `names_hub`.
        extension: Whether it is the hub of an extension: see `names_extension`.
        app: Whether it is a tab of an app with a hub: see `names_app`.
        http: Whether an HTTP library is in the bundle.
        world: Whether the server was written for a process.
        persists: Whether it has files that are kept.
        webmcp: Whether it is a server that offers its tools to WebMCP.
        left_out: The modules that the author leaves out, and their packages.
    """
    frame = _PACKAGE / "frame"
    used = {
        _FOR_LINES: sdk == 1 or program or fastmcp,
        _FOR_OBJECTS_OF_OTHERS: sdk == 1 or fastmcp,
        _FOR_MCP_1: sdk == 1,
        _FOR_FASTMCP: fastmcp,
        _FOR_PROGRAMS: program,
        _FOR_PROGRAMS_OF_MCP_2: program and sdk > 1,
        _FOR_WRAPPED: wraps,
        _FOR_VIEWS: views,
        _FOR_HOSTS: hosts,
        _FOR_PAGES: page,
        _FOR_HUBS: hub,
        _FOR_EXTENSIONS: extension,
        _FOR_APPS: app,
        _FOR_HTTP: http,
        _FOR_PROCESSES: world,
        _FOR_KEPT_FILES: persists,
        _FOR_WEBMCP: webmcp or hosts,
    }
    unused = frozenset().union(*(files for files, is_used in used.items() if not is_used))
    unused -= _FOR_RELAYS if extension or app else frozenset()
    ours = [path for path in sorted(frame.rglob("*.py")) if path.relative_to(frame).as_posix() not in unused]
    paths = [_PACKAGE / "__init__.py", *ours, *(sorted((_PACKAGE / "views").glob("*.py")) if views else ())]
    files = {f"mcpframe/{path.relative_to(_PACKAGE).as_posix()}": path.read_bytes() for path in paths}
    if left_out and (name := f"mcpframe/frame/{_LEFT_OUT_MODULES}") in files:
        files[name] = f"MODULES = {dict(sorted(left_out.items()))!r}\n".encode()
    metadata = f"Metadata-Version: 2.1\nName: mcpframe\nVersion: {version}\n"
    return {**files, f"mcpframe-{version}.dist-info/METADATA": metadata.encode()}


def may_wrap(author: Mapping[str, bytes]) -> bool:
    """Return whether code may call `mcpframe.wrap`: where it is not the author's own, that is not known.

    Args:
        author: The author's files, by path.
    """
    return _may_name(author, b"wrap")


def may_have_views(author: Mapping[str, bytes]) -> bool:
    """Return whether code may use `mcpframe.views`; see `may_wrap`."""
    return _may_name(author, b"views")


def may_host(author: Mapping[str, bytes]) -> bool:
    """Return whether code may frame pages, return `ui_resource`, or be a client of page servers; see `may_wrap`."""
    return _may_name(author, *_HOST_NAMES)


def may_be_page(author: Mapping[str, bytes]) -> bool:
    """Return whether code may use `connect_to_host` or `page_server`, which are for pages; see `may_wrap`."""
    return _may_name(author, *_PAGE_NAMES)


def names_hub(author: Mapping[str, bytes]) -> bool:
    """Return whether code names `mcpframe.frame.hub`. That of others is none of a hub.

    Args:
        author: The author's files, by path.
    """
    code = [data for path, data in author.items() if path.endswith(".py")]
    return any(b"mcpframe" in data and any(name in data for name in _HUB_NAMES) for data in code)


def names_extension(author: Mapping[str, bytes]) -> bool:
    """Return whether code names `mcpframe.frame.extension_hub`; see `names_hub`."""
    return any(path.endswith(".py") and _EXTENSION_NAME in data for path, data in author.items())


def names_app(author: Mapping[str, bytes]) -> bool:
    """Return whether code names `mcpframe.frame.hub.app`; see `names_hub`."""
    return any(path.endswith(".py") and _APP_NAME in data for path, data in author.items())


def _may_name(author: Mapping[str, bytes], *names: bytes) -> bool:
    code = [data for path, data in author.items() if path.endswith(".py")]
    sought = (b"import *", *names)
    return not code or any(b"mcpframe" in data and any(name in data for name in sought) for data in code)


def author_files(project: Project, out: Path) -> dict[str, bytes]:
    """Return the author's files, by path relative to the source folder.

    Args:
        project: The project.
        out: The output folder, which may be inside the project.

    Raises:
        BuildError: A file cannot be read.
        ConfigError: An asset pattern matches nothing, or a file that must not be published; or a symbolic link leads
            out of the project.
    """
    paths = list(_imported(project) if project.single else _sources(project, project.source, out))
    files = {path.relative_to(project.source).as_posix(): _read(path) for path in paths}
    files |= {name: data for name, data in _declared(project, out).items() if not name.endswith(_BROWSERS_ONLY)}
    return dict(sorted(files.items()))


def page_files(project: Project, out: Path) -> dict[str, bytes]:
    """Return the files that the page fetches by URL: assets, style sheets and files of npm packages, by path.

    Args:
        project: The project.
        out: The output folder, which may be inside the project.

    Raises:
        BuildError: A file cannot be read.
        ConfigError: A pattern matches nothing, or a file that must not be published.
        DownloadError: An npm package could not be fetched.
        HashMismatch: An npm package is not the one that was pinned.
    """
    files, packages = _declared(project, out), npm_files(project.config.npm, str(project.file))
    if both := sorted(files.keys() & packages.keys()):
        raise ConfigError(
            f"{project.file}: {both[0]} is both a file of the project and one of tool.mcpframe.npm: rename the folder."
        )
    files |= packages
    for name in sorted(files):
        for ending in _COMPRESSED:
            if f"{name}{ending}" in files:
                raise ConfigError(
                    f"{project.file}: {name} and {name}{ending} cannot both be published: web servers send the second "
                    "as the compressed form of the first. Rename one of them."
                )
    return dict(sorted(files.items()))


def style_paths(project: Project) -> list[str]:
    """Return the paths of the page's style sheets in the folder of assets, in their order."""
    return [_name(project, project.root / style) for style in project.config.styles]


def _declared(project: Project, out: Path) -> dict[str, bytes]:
    """Return the files of `assets` and `styles`, by path relative to the source folder, or else to the project's."""
    found: dict[str, bytes] = {}
    for key, patterns in (("assets", project.config.assets), ("styles", project.config.styles)):
        for pattern in patterns:
            found |= {_name(project, path): _read(path) for path in _assets(project, key, pattern, out)}
    return found


def _name(project: Project, path: Path) -> str:
    base = project.source if path.is_relative_to(project.source) else project.root
    return path.relative_to(base).as_posix()


def _sources(project: Project, folder: Path, out: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the Python files of a folder and its subfolders. Links that lead back to a parent folder are skipped.

    Args:
        project: The project.
        folder: The folder.
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
    found: set[Path] = set()
    open_files = [script]
    while open_files:
        path = open_files.pop()
        if path in found:
            continue
        found.add(path)
        for name in _import_names(path):
            module, package = script.parent / f"{name}.py", script.parent / name
            if module.is_file():
                open_files.append(_within(project, module) if module != script else module)
            elif (package / "__init__.py").is_file():
                open_files.extend(_sources(project, package, script.parent / "dist"))
    yield from sorted(found)


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
    found = []
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
            found.append(file)
    if not found:
        raise ConfigError(f"{project.file}: tool.mcpframe.{key}: {pattern!r} matches no file below {project.root}.")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BuildError(f"{path} cannot be read: {error.strerror}.") from error
