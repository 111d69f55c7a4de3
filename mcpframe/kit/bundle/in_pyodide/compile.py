"""Compile the Python files /in/0, /in/1, … to /out, with their paths in the page.

/in/given.json has the path of each in tracebacks, and which docstrings are kept. A file that does not compile is not
an error: some packages include such files, as for other versions of Python.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import partial
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path

COUNTED_EVERY = 20
"""The files between two counts for people."""


async def main() -> dict[int, str]:
    """Compile all files; return the compile errors by number."""
    return compile_all()


def compile_all() -> dict[int, str]:
    """Compile one file for each path in given.json, and return the errors by number."""
    given = json.loads(Path("/in/given.json").read_text("utf-8"))
    errors: dict[int, str] = {}
    for number, name in enumerate(given["shown"]):
        outcome = bytecode(Path(f"/in/{number}").read_bytes(), name, docstrings=given["docstrings"])
        if isinstance(outcome, str):
            errors[number] = outcome
            continue
        Path(f"/out/{number}").write_bytes(outcome)
        if number % COUNTED_EVERY == 0:
            print(f"mcpframe: {number} of {len(given['shown'])}")  # read by static/build/node-python.mjs
    return errors


def bytecode(source: bytes, shown: str, *, docstrings: str) -> bytes | str:
    """Return the bytecode of a file, or the error text of one that does not compile.

    Args:
        shown: Its path in tracebacks.
        docstrings: Those that stay: "all", "none", or "offered", which may be part of what a server offers. With
            "removed" the result is JSON: the others, by qualified name.
    """
    try:
        if docstrings == "all":
            code = compile(source, shown, "exec", dont_inherit=True)
        else:
            removed: dict[str, str] = {}
            is_offered = _offered_at(shown) if docstrings != "none" else _none
            module = without_docstrings(source, is_offered, removed)
            if docstrings == "removed":
                return json.dumps({name: _as_compiled(text) for name, text in removed.items()}).encode()
            code = compile(module, shown, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
    # An unchecked hash: the page does not compare a module with its source, and the file has no date.
    return bytes(_code_to_hash_pyc(code, source_hash(source), False))


def without_docstrings(
    source: bytes, offered: Callable[[ast.Module], Collection[ast.AST]], removed: dict[str, str] | None = None
) -> ast.Module:
    """Parse a source and remove the docstrings.

    The first line of a decorated class's docstring stays: for a dataclass without one, `dataclasses` generates one from
    its signature, which takes longer.

    Args:
        offered: Returns the nodes of a module whose docstrings stay.
        removed: Gets the removed ones by qualified name. Those of one name, as of a function for each platform, stay.
    """
    module = ast.parse(source)
    stay = offered(module)
    nodes = [(node, name) for node, name in _named(module, "") if node not in stay]
    names = Counter(name for _, name in nodes)
    for node, name in nodes:
        if removed is not None:
            if names[name] > 1:
                continue
            removed[name] = node.body[0].value.value  # type: ignore[attr-defined]
        first, *rest = node.body
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            line = ast.Constant(first.value.value.partition("\n")[0])  # type: ignore[attr-defined]
            node.body = [ast.fix_missing_locations(ast.copy_location(ast.Expr(line), first)), *rest]
        else:
            node.body = rest or [ast.copy_location(ast.Pass(), first)]
    return module


_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _named(node: ast.AST, name: str) -> Iterator[tuple[_Documented, str]]:
    """Yield the nodes with a docstring, and their qualified names."""
    if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
        yield node, name
    inner = f"{name}.<locals>" if isinstance(node, _Function) else name
    for child in ast.iter_child_nodes(node):
        is_named = isinstance(child, ast.ClassDef | _Function)
        yield from _named(child, f"{inner}.{child.name}".lstrip(".") if is_named else inner)  # type: ignore[attr-defined]


def _none(module: ast.Module) -> Collection[ast.AST]:
    return ()


_PLAIN_DECORATORS = frozenset(
    {
        *("abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager"),
        *("lru_cache", "overload", "override", "property", "setter", "staticmethod"),
    }
)
"""Decorators of functions that are no tool, and whose docstring is in no schema."""
_PLAIN_BASES = frozenset({"ABC", "ABCMeta", "Generic", "Protocol", "object"})


def _offered_at(shown: str) -> Callable[[ast.Module], Collection[ast.AST]]:
    return partial(offered, is_stdlib="/site-packages/" not in shown)


def offered(module: ast.Module, *, is_stdlib: bool) -> set[ast.AST]:
    """Return the nodes of a library whose docstrings may describe a tool or be in a schema.

    They are classes, such as models, unless they are plain; functions in functions, of which a library makes tools; and
    functions that an author may make one, such as `textwrap.shorten` or the method `random.randint`.

    Args:
        is_stdlib: Whether the module is of the standard library.
    """
    nodes = list(ast.walk(module))
    functions = [node for node in nodes if isinstance(node, _Function)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    methods = {node for cls in classes for node in ast.walk(cls)}
    exported = {
        target.id
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == node.value.attr
    }
    offers: set[ast.AST] = {node for node in classes if node.decorator_list or not _is_plain(node)}
    for node in functions:
        offers |= set(ast.walk(node)) - {node}
        decorators = {_last_name(each) for each in node.decorator_list}
        is_public = node not in methods and not node.name.startswith("_")
        if decorators - _PLAIN_DECORATORS or (is_stdlib and (is_public or node.name in exported)):
            offers.add(node)
    return offers


def _is_plain(node: ast.ClassDef) -> bool:
    """Return whether a class has no bases, or such of which no schema describes a subclass."""
    names = map(_last_name, [*node.bases, *(each.value for each in node.keywords)])
    return all(name in _PLAIN_BASES or name.endswith(("Error", "Exception")) for name in names)


def _last_name(node: ast.expr) -> str:
    """Return the name of a decorator or a base, without its module, arguments and parameters."""
    return re.split(r"[(\[]", ast.unparse(node))[0].rpartition(".")[2]


def _as_compiled(docstring: str) -> str:
    """Return a docstring as this Python's compiler stores it."""
    names: dict[str, str] = {}
    exec(compile(repr(docstring), "", "exec"), names)  # noqa: S102  a text, which only the compiler cleans
    return names["__doc__"]
