"""The modules of mcpframe in a bundle: those imported by the page's start and the author's code, directly or not.

Every import in a module of the bundle counts, wherever it stands: at the top of a file, in a function, or as a text
that names a module (`"mcpframe.frame.world"`, `"mcpframe.hub.homes.page.app:AppHub"`, or with a gap
`f"mcpframe.frame.dialects.{name}.dialect"`). Imports for type checkers do not, nor does `sys.modules.get(…)`, which
only looks a module up. Two kinds of module are optional, and declare it themselves:

- A module with `BUNDLED_WITH = ("world",)` is a part for bundles with one of these features (`features_of`). In a
  package's `__init__.py` this stands for all its modules. An import of it in a function, or as a text, counts only in
  such a bundle. Imports by the author, at the top of a file, and within the part always count.
- The modules in `mcpframe.HOMES`, the public names, come with the code that uses the name.

All dialects are in every bundle: bundles on one site share the archive of the SDK and mcpframe if it is the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from mcpframe import HOMES
from mcpframe.kit.bundle.code.imports import Import, imports_in, syntax_tree
from mcpframe.kit.bundle.page.scripts import loader_script
from mcpframe.kit.bundle.pyodide.job import program_texts

_NAME = "mcpframe"
_ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("frame", "hub", "views")
_LEFT_OUT = "mcpframe.frame.compat.left_out_modules"
_DECLARATION = "BUNDLED_WITH"
_MODULE_NAME = re.compile(r"mcpframe(\.[\w*]+)*(:\w*)?", re.ASCII)
_IMPORTED_BY_SCRIPT = re.compile(r'pyimport\("(mcpframe\.[\w.]+)"\)')
_PUBLIC = tuple(f"{_NAME}.{name}" for name in HOMES)
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


def own_files(
    code: Mapping[str, bytes], features: Collection[str], left_out: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Return mcpframe's files for a page, by path in site-packages, with the metadata that installers need.

    Args:
        code: The Python files in the bundle that may import mcpframe, by path.
        features: The features of the bundle: see `features_of`.
        left_out: The modules that the author leaves out, and their packages.
    """
    paths = module_paths()
    files = {path_in_packages(name): paths[name].read_bytes() for name in own_modules(code, features)}
    if left_out and (path := path_in_packages(_LEFT_OUT)) in files:
        files[path] = f"MODULES = {dict(sorted(left_out.items()))!r}\n".encode()
    number = version(_NAME)
    metadata = f"Metadata-Version: 2.1\nName: {_NAME}\nVersion: {number}\n"
    return {**dict(sorted(files.items())), f"{_NAME}-{number}.dist-info/METADATA": metadata.encode()}


def own_sources() -> dict[str, bytes]:
    """Return every file that `own_files` chooses from, by path in site-packages."""
    return {path_in_packages(name): path.read_bytes() for name, path in sorted(module_paths().items())}


@cache
def module_paths() -> dict[str, Path]:
    """Return the files of the modules that may be in a bundle, by name; none of the tool chain."""
    found = [_ROOT / "__init__.py", *(path for room in _ROOMS for path in (_ROOT / room).rglob("*.py"))]
    return {_module(path.relative_to(_ROOT.parent).as_posix()): path for path in found}


def path_in_packages(name: str) -> str:
    """Return the path of a module of mcpframe in site-packages."""
    return module_paths()[name].relative_to(_ROOT.parent).as_posix()


def own_modules(code: Mapping[str, bytes], features: Collection[str]) -> set[str]:
    """Return the names of mcpframe's modules in a bundle; see `own_files`."""
    found: set[str] = set()
    waiting = [name for ref in _roots() for name in _modules_of(ref.name) if not ref.lazy or _is_in(name, "", features)]
    for path, data in code.items():
        waiting += [name for ref in references(path, data) for name in _modules_of(ref.name)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        above = name.rpartition(".")[0]
        waiting += [above] if above else []
        for ref in references(path_in_packages(name), module_paths()[name].read_bytes()):
            waiting += [each for each in _modules_of(ref.name) if not ref.lazy or _is_in(each, name, features)]
    return found


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
    found = [
        Reference(name, item.optional)
        for item in imports_in(tree, path)
        if not item.typing and item.module.partition(".")[0] == _NAME
        for name in _names_of(item)
    ]
    if _module(path) != _NAME:  # its texts are those of HOMES
        found += [Reference(name, lazy=True) for name in (*_names_in_texts(tree), *_attributes(tree))]
    return tuple(dict.fromkeys(found))


def _is_in(name: str, importer: str, features: Collection[str]) -> bool:
    """Return whether a lazy import of a module brings it into a bundle with these features."""
    part = part_of(name)
    return part is None or not part.features.isdisjoint(features) or bool(importer and part_of(importer) == part)


@cache
def _roots() -> tuple[Reference, ...]:
    """Return the imports of the page's script, and of the build's programs in Pyodide."""
    by_script = _IMPORTED_BY_SCRIPT.findall(loader_script().decode())
    by_programs = [ref for path, text in program_texts().items() for ref in references(path, text.encode())]
    return (*(Reference(name, lazy=False) for name in by_script), *by_programs)


@cache
def _modules_of(name: str) -> tuple[str, ...]:
    """Return the modules that a dotted name refers to; for a name in a module, that module."""
    names = {module: module for module in module_paths()}
    names |= {f"{_NAME}.{public}": home for public, home in HOMES.items() if home in names}  # not those of the kit
    if "*" in name:
        pattern = re.compile(re.escape(name).replace(r"\*", r"[\w.]+"))
        return tuple(sorted({module for each, module in names.items() if pattern.fullmatch(each)}))
    while name not in names:
        name = name.rpartition(".")[0]
    return (names[name],)


def _declared_in(data: bytes) -> frozenset[str]:
    if _DECLARATION.encode() in data:
        for node in ast.parse(data).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _DECLARATION:
                return frozenset(ast.literal_eval(node.value))
    return frozenset()


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _names_of(item: Import) -> Collection[str]:
    if (item.module, item.name) == (_NAME, "*"):
        return _PUBLIC
    return [f"{item.module}.{item.name}".removesuffix(".")]


def _names_in_texts(tree: ast.Module) -> Iterator[str]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    looked_up = {each for call in calls if ast.unparse(call.func) == "sys.modules.get" for each in call.args}
    for node in ast.walk(tree):
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


def _attributes(tree: ast.Module) -> Iterator[str]:
    """Yield the used attributes of the package; all public ones if it is used in another way."""
    imported = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    bound = {alias.asname or _NAME for alias in imported if _binds_package(alias)}
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            inner.add(node.value)
            yield f"{_NAME}.{node.attr}"
        elif isinstance(node, ast.Name):
            yield from _PUBLIC if node.id in bound and node not in inner else ()
        elif isinstance(node, ast.Call) and _imports_package(node):
            yield from _PUBLIC


def _binds_package(alias: ast.alias) -> bool:
    return alias.name == _NAME or (alias.asname is None and alias.name.startswith(f"{_NAME}."))


def _imports_package(call: ast.Call) -> bool:
    is_import = ast.unparse(call.func).rpartition(".")[2] in _IMPORTERS
    return is_import and any(isinstance(item, ast.Constant) and item.value == _NAME for item in call.args)
