"""The modules of mcpframe in a bundle: those imported by the page's start and the author's code, directly or not.

Every import in a module of the bundle counts, wherever it stands: at the top of a file, in a function, or as a text
that names a module (`"mcpframe.frame.world"`, `"mcpframe.hub.homes.page.page_hub:PageHub"`, or with a gap
`f"mcpframe.frame.dialects.{name}.dialect"`). Imports for type checkers do not, nor does `sys.modules.get(…)`, which
only looks a module up. Two kinds of module are optional, and declare it themselves:

- A module with `BUNDLED_WITH = ("world",)` is a part for bundles with one of these features (`features_of`). In a
  package's `__init__.py` this stands for all its modules. An import of it in a function, or as a text, counts only in
  such a bundle. Imports by the author, at the top of a file, and within the part always count.
- The modules of the public names come with the code that uses the name: see `public_names`.

All dialects are in every bundle. What every server of an SDK has (`shared_own_files`) is in the archive of the SDK,
which bundles on one site share, and so in the lowest layer of their snapshots; the rest is in an archive of its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from mcpframe.kit.bundle.assembly.page_scripts import loader_script
from mcpframe.kit.bundle.assembly.special_packages import advice
from mcpframe.kit.bundle.code.imports import Import, imports_in, syntax_tree
from mcpframe.kit.bundle.code.public_names import public_names
from mcpframe.kit.bundle.code.variables import dotted, last_name
from mcpframe.kit.bundle.pyodide.job_texts import job_texts

_NAME = "mcpframe"
_ROOT = Path(__file__).resolve().parents[3]
_ROOMS = ("frame", "hub", "views")
_FILES = ("__init__", "hosts", "wire")
_TABLE = "NAMES: dict[str, dict[str, str]] = {"
_LEFT_OUT = "mcpframe.frame.compat.placeholder_advice"
_DECLARATION = "BUNDLED_WITH"
_MODULE_NAME = re.compile(r"mcpframe(\.[\w*]+)*(:\w*)?", re.ASCII)
_IMPORTED_BY_SCRIPT = re.compile(r'pyimport\("(mcpframe\.[\w.]+)"\)')
_IMPORTERS = frozenset({"import_module", "__import__"})


class Reference(NamedTuple):
    """A module, or a name in it, that code refers to.

    Attributes:
        name: The dotted name; `*` stands for any part of a name.
        lazy: Whether the code can be imported without it.
    """

    name: str
    lazy: bool


class Part(NamedTuple):
    """An optional part of mcpframe.

    Attributes:
        root: Its module, or the package that contains its modules.
        features: The features that add it to a bundle.
    """

    root: str
    features: frozenset[str]


_SHARED_FEATURES = frozenset({"mcp1", "mcp2", "fastmcp", "program"})
"""The features that decide what bundles share: the SDK, and whether placeholders answer the imports of all packages."""


def own_files(code: Mapping[str, bytes], features: Collection[str]) -> dict[str, bytes]:
    """Return mcpframe's files for a page, by path in site-packages, with the metadata that installers need.

    Args:
        code: The Python files in the bundle that may import mcpframe, by path.
        features: The features of the bundle: see `features_of`.
    """
    paths = module_paths()
    modules = own_modules({}, _shared(features)) | own_modules(code, features)
    files = {path_in_packages(name): paths[name].read_bytes() for name in modules}
    table = ", ".join(f"{name!r}: {homes!r}" for name, homes in public_names().items() if name in paths)
    files[path_in_packages(_NAME)] = paths[_NAME].read_bytes().replace(_TABLE.encode(), (_TABLE + table).encode())
    files[path_in_packages(_LEFT_OUT)] = f"MODULES = {advice(features)!r}\n".encode()
    number = version(_NAME)
    metadata = f"Metadata-Version: 2.1\nName: {_NAME}\nVersion: {number}\n"
    return {**dict(sorted(files.items())), f"{_NAME}-{number}.dist-info/METADATA": metadata.encode()}


def shared_own_files(features: Collection[str]) -> dict[str, bytes]:
    """Return those of mcpframe's files for a page that all servers of the same SDK have.

    Args:
        features: The features of the bundle.
    """
    return own_files({}, _shared(features))


def _shared(features: Collection[str]) -> frozenset[str]:
    return (_SHARED_FEATURES & frozenset(features)) | {"document"}


def own_sources() -> dict[str, bytes]:
    """Return every file that `own_files` chooses from, by path in site-packages."""
    return {path_in_packages(name): path.read_bytes() for name, path in sorted(module_paths().items())}


@cache
def module_paths() -> dict[str, Path]:
    """Return the files of the modules that may be in a bundle, by name; none of the tool chain."""
    paths = [
        *(_ROOT / f"{name}.py" for name in _FILES),
        *(path for room in _ROOMS for path in (_ROOT / room).rglob("*.py")),
    ]
    return {_module(path.relative_to(_ROOT.parent).as_posix()): path for path in paths}


def path_in_packages(name: str) -> str:
    """Return the path of a module of mcpframe in site-packages."""
    return module_paths()[name].relative_to(_ROOT.parent).as_posix()


def own_modules(code: Mapping[str, bytes], features: Collection[str]) -> set[str]:
    """Return the names of mcpframe's modules in a bundle; see `own_files`."""
    modules: set[str] = set()
    waiting = [name for ref in _roots() for name in _modules_of(ref.name) if not ref.lazy or _is_in(name, "", features)]
    for path, data in code.items():
        waiting += [name for ref in references(path, data) for name in _modules_of(ref.name)]
    while waiting:
        name = waiting.pop()
        if name in modules:
            continue
        modules.add(name)
        above = name.rpartition(".")[0]
        waiting += [above] if above else []
        for ref in references(path_in_packages(name), module_paths()[name].read_bytes()):
            waiting += [each for each in _modules_of(ref.name) if not ref.lazy or _is_in(each, name, features)]
    return modules


@cache
def part_of(name: str) -> Part | None:
    """Return the optional part that a module belongs to; None if it belongs to none."""
    while name:
        if features := _declared_in(module_paths()[name].read_bytes()):
            return Part(name, features)
        name = name.rpartition(".")[0]
    return None


@cache
def references(path: str, data: bytes) -> tuple[Reference, ...]:
    """Return the references to mcpframe in a Python file.

    Args:
        path: Its path in site-packages.
    """
    if not path.endswith(".py") or _NAME.encode() not in data or (tree := syntax_tree(data)) is None:
        return ()
    all_names = [
        Reference(name, item.optional)
        for item in imports_in(tree, path)
        if not item.typing and item.module.partition(".")[0] == _NAME
        for name in _names_of(item)
    ]
    nodes = list(ast.walk(tree))
    all_names += [Reference(name, lazy=True) for name in (*_names_in_texts(nodes), *_attributes(nodes))]
    return tuple(dict.fromkeys(all_names))


def _is_in(name: str, importer: str, features: Collection[str]) -> bool:
    """Return whether a lazy import of a module brings it into a bundle with these features."""
    part = part_of(name)
    return part is None or not part.features.isdisjoint(features) or bool(importer and part_of(importer) == part)


@cache
def _roots() -> tuple[Reference, ...]:
    """Return the imports of the page's script, and of the jobs that the build runs in Pyodide."""
    by_script = _IMPORTED_BY_SCRIPT.findall(loader_script().decode())
    by_jobs = [ref for path, text in job_texts().items() for ref in references(path, text.encode())]
    return (*(Reference(name, lazy=False) for name in by_script), *by_jobs)


@cache
def _modules_of(name: str) -> tuple[str, ...]:
    """Return the modules that a dotted name refers to; for a name in a module, that module and, if public, its home."""
    names: dict[str, tuple[str, ...]] = {module: (module,) for module in module_paths()}
    for public, homes in public_names().items():
        for each, home in homes.items():
            module = f"{home}.{each}" if f"{home}.{each}" in names else home  # `errors` is a module
            names |= {f"{public}.{each}": (public, module)} if {public, module} <= names.keys() else {}
    if "*" in name:
        pattern = re.compile(re.escape(name).replace(r"\*", r"[\w.]+"))
        return tuple(
            sorted({module for each, modules in names.items() if pattern.fullmatch(each) for module in modules})
        )
    while name and name not in names:
        name = name.rpartition(".")[0]
    return names[name]


def _declared_in(data: bytes) -> frozenset[str]:
    if _DECLARATION.encode() in data:
        for node in ast.parse(data).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _DECLARATION:
                return frozenset(ast.literal_eval(node.value))
    return frozenset()


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _names_of(item: Import) -> Collection[str]:
    if item.name == "*" and item.module in public_names():
        return _all_of(item.module)
    return [f"{item.module}.{item.name}".removesuffix(".")]


def _all_of(module: str) -> list[str]:
    return [f"{module}.{name}" for name in public_names()[module]]


def _names_in_texts(nodes: Sequence[ast.AST]) -> Iterator[str]:
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    looked_up = {each for call in calls if dotted(call.func) == "sys.modules.get" for each in call.args}
    for node in nodes:
        if node in looked_up:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(item.value) if isinstance(item, ast.Constant) else "*" for item in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if text.startswith(f"{_NAME}.") and _MODULE_NAME.fullmatch(text):
            yield text.replace(":", ".").removesuffix(".")


def _attributes(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the used attributes of the public modules; all names of one that is used in another way."""
    bound = _bound(nodes)
    inner = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name) and node not in inner:
            root, *names = dotted(node).split(".")
            if root in bound:
                name = ".".join([bound[root], *names])
                yield from _all_of(name) if name in public_names() else (name,)
        elif isinstance(node, ast.Call) and last_name(node.func) in _IMPORTERS:
            named = {item.value for item in node.args if isinstance(item, ast.Constant)}
            yield from (name for module in public_names() if module in named for name in _all_of(module))


def _bound(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return the names that imports bind to public modules."""
    bound = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                bound[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return {name: module for name, module in bound.items() if module in public_names()}
