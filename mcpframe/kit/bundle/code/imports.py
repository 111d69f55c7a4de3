"""The imports in Python files, found in their syntax trees; no code is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

_MOST_PLACES = 5
IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_ALL_ERRORS = IMPORT_ERRORS | {"Exception", "BaseException"}
_FOR_TYPE_CHECKERS = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})
_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


@dataclass(frozen=True)
class Import:
    """One imported name.

    Attributes:
        module: The absolute name of the module; for `from a import b` that is `a`.
        name: The name imported from it; empty for `import a`.
        file: The importing file.
        line: The line.
        optional: Whether the file can be imported without it, as the import is inside a function, a `try` with
            `except ImportError`, or `if TYPE_CHECKING`.
        typing: Whether only type checkers execute it.
        handled: Whether the file goes on without it: the import is inside a `try` with `except ImportError`.
    """

    module: str
    name: str
    file: str
    line: int
    optional: bool
    typing: bool = False
    handled: bool = False

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}"


def syntax_tree(source: bytes) -> ast.Module | None:
    """Return the syntax tree of a file; None if it is invalid, for example for another version of Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in other people's strings
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imports_of(files: Mapping[str, bytes]) -> Iterator[Import]:
    """Return the imports of files, given by path in site-packages; relative imports become absolute."""
    for path, data in sorted(files.items()):
        if path.endswith(".py") and b"import" in data and (tree := syntax_tree(data)):
            yield from imports_in(tree, path)


def imports_named(module: str, files: Mapping[str, bytes]) -> list[Import]:
    """Return the imports of a module and of names in it; only files that mention its names are read."""
    names = [name.encode() for name in module.split(".")]
    mentioned = {path: data for path, data in files.items() if all(name in data for name in names)}
    return [item for item in imports_of(mentioned) if _is_within(item, module)]


def places_of(imports: Iterable[Import]) -> tuple[str, ...]:
    """Return the lines of imports; those executed on import of their module come first."""
    ordered = sorted(imports, key=lambda item: item.optional)
    return tuple(
        f"{item.place} ({'in a function or within try' if item.optional else 'when the module is imported'})"
        for item in ordered[:_MOST_PLACES]
    )


def _is_within(item: Import, module: str) -> bool:
    return f"{item.module}.".startswith(f"{module}.") or f"{item.module}.{item.name}.".startswith(f"{module}.")


def imports_in(tree: ast.Module, path: str) -> Iterator[Import]:
    """Return the imports in the syntax tree of a file, given by its path in site-packages."""
    package = path.removesuffix(".py").split("/")[:-1]
    below: list[tuple[ast.AST, _Where]] = [(tree, _Where())]
    while below:
        node, where = below.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", path, node.lineno, **asdict(where))
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(module, alias.name, path, node.lineno, **asdict(where))
        else:
            below += reversed(list(_children(node, where)))


def imported_first(module: str, files: Mapping[str, bytes]) -> list[str]:
    """Return what an author's module imports before any code of the author's runs, in order.

    It makes no difference to these modules whether they were imported earlier.

    Args:
        module: The module's name.
        files: The author's files, by path.

    Returns:
        The modules that are not the author's; none for a module that is not. With `from a import b`, `a.b` is one of
        them: it may be a module.
    """
    first = _FirstImports(files)
    if first.has(module):
        first.import_module(module)
    return list(first.names)


class _FirstImports:
    """The author's modules, imported until one of them does anything else."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.names: dict[str, None] = {}
        self._files = files
        self._begun: set[str] = set()

    def import_module(self, name: str) -> bool:
        """Import a module, after the packages that it is in; return whether nothing but imports has run."""
        parts = name.split(".")
        if not self.has(parts[0]):
            self.names[name] = None
            return True
        modules = (".".join(parts[: count + 1]) for count in range(len(parts)))
        return all(self._run(each) for each in modules)

    def has(self, name: str) -> bool:
        """Return whether a module is the author's."""
        return bool(self._path(name))

    def _path(self, name: str) -> str:
        """Return the file of a module of the author's, or its folder; empty if there is none."""
        path = name.replace(".", "/")
        files = [each for each in (f"{path}/__init__.py", f"{path}.py") if each in self._files]
        return next(iter(files), path if any(each.startswith(f"{path}/") for each in self._files) else "")

    def _run(self, name: str) -> bool:
        path = self._path(name)
        if not path.endswith(".py") or name in self._begun:  # a name in a module, a folder, or one that imports this
            return True
        self._begun.add(name)
        tree = syntax_tree(self._files[path])
        return tree is not None and all(self._only_imports(statement, path) for statement in tree.body)

    def _only_imports(self, statement: ast.stmt, path: str) -> bool:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            return _is_inert(statement)
        return all(self._import_names(each) for each in imports_in(ast.Module([statement], []), path))

    def _import_names(self, item: Import) -> bool:
        names = [item.module, f"{item.module}.{item.name}"] if item.name else [item.module]
        return all(self.import_module(name) for name in names)


def _is_inert(statement: ast.stmt) -> bool:
    """Return whether nothing but the module itself can see that a statement was executed."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)  # a docstring
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) in _FOR_TYPE_CHECKERS and not statement.orelse
    if not isinstance(statement, ast.Assign) or not all(isinstance(each, ast.Name) for each in statement.targets):
        return False
    values = ast.Constant | ast.List | ast.Tuple | ast.Load
    return all(isinstance(node, values) for node in ast.walk(statement.value))


@dataclass(frozen=True)
class _Where:
    """The place of an import; see `Import`."""

    optional: bool = False
    typing: bool = False
    handled: bool = False


def _children(node: ast.AST, where: _Where) -> Iterator[tuple[ast.AST, _Where]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        where = replace(where, optional=True)
    tried = bool(goes_on_without(node))
    skipped = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    for name, value in ast.iter_fields(node):
        inside = where
        if (tried and name in ("body", "handlers")) or (skipped and name == "body"):
            inside = _Where(True, where.typing or skipped, where.handled or tried)
        for child in value if isinstance(value, list) else ():  # an expression holds no import
            if isinstance(child, _STATEMENTS):
                yield child, inside


def goes_on_without(node: ast.AST) -> frozenset[str]:
    """Return the exceptions that a statement handles if an import in it fails; a handler that raises handles none."""
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        kinds = [kind for call in calls if ast.unparse(call.func).endswith("suppress") for kind in call.args]
        return _names(kinds)
    handlers = node.handlers if isinstance(node, ast.Try) else []
    kept = [handler for handler in handlers if not any(isinstance(each, ast.Raise) for each in handler.body)]
    return frozenset[str]().union(*(_names([handler.type]) if handler.type else _ALL_ERRORS for handler in kept))


def _names(kinds: Iterable[ast.expr]) -> frozenset[str]:
    each = [part for kind in kinds for part in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return _ALL_ERRORS.intersection(ast.unparse(part).rpartition(".")[2] for part in each)
