"""The files of the playground's code help: a type checker that runs in a worker, stubs of the packages, a formatter.

The checker is the npm package browser-basedpyright. Its worker has the stubs of two hundred packages that no server in
the playground can import, half of its size: they are cut out. The stubs of those that it can import are made here, from
the locked wheels and the sources of mcpframe.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BuildError

STUBS = "/stubs/"
"""The folder of the stubs in the checker's file system: `extraPaths` in static/playground/language/files.js."""
_WORKER = Path("browser-basedpyright", "dist", "pyright.worker.js")
_FORMATTER = Path("@wasm-fmt", "ruff_fmt", "ruff_fmt_bg.wasm")
_LICENCES = (
    Path("browser-basedpyright", "LICENSE.txt"),
    Path("browser-basedpyright", "dist", "pyright.worker.js.LICENSE.txt"),
    Path("@wasm-fmt", "ruff_fmt", "LICENSE"),
)
_BEGIN = '={"/typeshed/LICENSE":'
_ENTRY = re.compile(
    r""""(/typeshed/[^"\\]+)":("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)([,}])""", re.DOTALL
)
_THIRD_PARTY = "/typeshed/stubs/"
_MAP = re.compile(r"\n//# sourceMappingURL=\S+\s*$")
_NEEDED = ("/typeshed/stdlib/builtins.pyi", "/typeshed/stdlib/VERSIONS")
_PACKAGES = ("mcpframe/", "mcp/", "mcp_types/", "pydantic/", "pydantic_core/", "anyio/", "annotated_types/")
_LEFT_OUT = re.compile(r"__main__|^mcp/cli/|^pydantic/(v1/|mypy|deprecated/)|^anyio/(pytest_plugin|_backends)")
_ROOTS = (
    "mcpframe",
    "mcpframe.hosts",
    "mcpframe.wire",
    "mcp_types",
    "pydantic",
    "anyio",
    "anyio.abc",
    "anyio.to_thread",
)


def write_language(modules: Path, folder: Path, wheels: Iterable[Path], own: Mapping[str, bytes]) -> None:
    """Write the files of the code help, and `files.json`, which has the path and the hash of each.

    Args:
        modules: A `node_modules` folder with the packages.
        folder: The folder to write, `language` in that of the playground.
        wheels: The wheels whose packages a server can import.
        own: The modules of mcpframe that it can import, by path.

    Raises:
        BuildError: The checker's worker does not have the expected shape.
    """
    worker = without_third_party((modules / _WORKER).read_text("utf-8"))
    files = {
        "worker": ("pyright.js", worker.encode()),
        "stubs": ("stubs.json", json.dumps(stubs({**sources_of(wheels), **own}), ensure_ascii=False).encode()),
        "formatter": ("ruff_fmt.wasm", (modules / _FORMATTER).read_bytes()),
    }
    folder.mkdir(exist_ok=True)
    licences = [(modules / path).read_text("utf-8") for path in _LICENCES]
    (folder / "LICENSES.txt").write_text("\n\n".join(licences), "utf-8")
    listed = {}
    for kind, (name, data) in files.items():
        digest = hashlib.sha256(data)
        stem, _, suffix = name.rpartition(".")
        path = f"{stem}-{digest.hexdigest()[:16]}.{suffix}"  # kept for ever, as all hashed files are
        (folder / path).write_bytes(data)
        listed[kind] = {"path": path, "integrity": f"sha256-{base64.b64encode(digest.digest()).decode()}"}
    (folder / "files.json").write_text(json.dumps(listed), "utf-8")


def without_third_party(worker: str) -> str:
    """Return the checker's script without the stubs of third-party packages.

    Raises:
        BuildError: It does not have the expected object of files, by path, in one literal.
    """
    if worker.count(_BEGIN) != 1:
        raise _unexpected(f"{worker.count(_BEGIN)} objects that begin with {_BEGIN}")
    start = worker.index(_BEGIN) + 2
    kept: dict[str, str] = {}
    cut, position = 0, start
    while True:
        entry = _ENTRY.match(worker, position)
        if entry is None:
            raise _unexpected(f"no file at {worker[position : position + 60]!r}")
        path, text, after = entry.groups()
        position = entry.end()
        if path.startswith(_THIRD_PARTY):
            cut += 1
        else:
            kept[path] = text
        if after == "}":
            break
    if lacking := [path for path in _NEEDED if path not in kept]:
        raise _unexpected(f"no {lacking[0]}")
    if not cut:
        raise _unexpected(f"nothing below {_THIRD_PARTY}")
    literal = ",".join(f'"{path}":{text}' for path, text in kept.items())
    return _MAP.sub("\n", f"{worker[:start]}{literal}}}{worker[position:]}")


def _unexpected(what: str) -> BuildError:
    return BuildError(
        f"browser-basedpyright's worker has {what}: it has another shape than docs/generate/language.py expects. "
        "Read how the new version keeps its typeshed, or pin the earlier one in package.json."
    )


def sources_of(wheels: Iterable[Path]) -> dict[str, bytes]:
    """Return the Python sources and stubs in wheels, by path in site-packages."""
    found = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for path in archive.namelist():
                if path.endswith((".py", ".pyi")) and ".data/" not in path:
                    found[path] = archive.read(path)
    return found


def stubs(sources: Mapping[str, bytes]) -> dict[str, str]:
    """Return the stubs of all modules that a server's author can see, by path in the checker's file system.

    These are the public modules of mcpframe, mcp, pydantic and anyio, and what they import.

    Args:
        sources: The modules, by path in site-packages.
    """
    modules = _by_name(sources)
    reached: dict[str, str] = {}
    waiting = [name for name in modules if name in _ROOTS or name.startswith("mcp.")]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in modules:
            continue
        path = modules[name]
        tree = ast.parse(sources[path])
        if path.endswith(".py"):
            tree = _Emptied().visit(tree)
        reached[name] = ast.unparse(tree)
        package = name if path.rpartition("/")[2].startswith("__init__.") else name.rpartition(".")[0]
        waiting += [*_imported(tree, package), name.rpartition(".")[0]]
    return {STUBS + modules[name]: text for name, text in sorted(reached.items())}


def _by_name(sources: Mapping[str, bytes]) -> dict[str, str]:
    """Return the paths of modules by name; of a module with a stub beside it, the stub's."""
    found: dict[str, str] = {}
    for path in sorted(sources):  # a.pyi is after a.py
        if path.startswith(_PACKAGES) and not _LEFT_OUT.search(path):
            found[path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")] = path
    return found


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    """Return the names of the modules that a module may import, and of attributes that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


class _Emptied(ast.NodeTransformer):
    """Replaces bodies by `...`. Some are needed: the checker reads attributes and missing return types from them."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._emptied(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._emptied(node)

    def _emptied(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if node.returns is None or _sets_attributes(node):
            return node
        doc = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        # An asynchronous generator is one by its `yield` only.
        last = (
            ast.Yield()
            if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _own(node))
            else ast.Constant(...)
        )
        node.body = [*doc, ast.Expr(last)]
        return node


def _sets_attributes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) for each in _own(node))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes of a function without those of the functions in it."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _own(each)
