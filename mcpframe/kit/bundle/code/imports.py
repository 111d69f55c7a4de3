"""The imports in Python files, found in their syntax trees; no code is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

_MOST_PLACES = 5
IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_ALL_ERRORS = IMPORT_ERRORS | {"Exception", "BaseException"}
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
    """Return the imports of a module and of names in it; only files that mention its last name are read."""
    last = module.rpartition(".")[2].encode()
    mentioned = {path: data for path, data in files.items() if last in data}
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


def imports_come_first(source: bytes) -> bool:
    """Return whether a module executes nothing before its last import, outside of functions and classes.

    Then it makes no difference to what it imports whether that was imported earlier.
    """
    tree = syntax_tree(source)
    if tree is None:
        return False
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    rest = iter(body)
    for statement in rest:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            return not any(_imports(each) for each in [statement, *rest])
    return True


def _imports(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(statement))


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
