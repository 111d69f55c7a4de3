"""Compile the Python files /in/0, /in/1, … to /out, with their paths in the page.

/in/given.json has the path of each in tracebacks, and whether docstrings are kept. A file that does not compile is not
an error: some packages include such files, as for other versions of Python.
"""

from __future__ import annotations

import ast
import json
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


def bytecode(source: bytes, shown: str, *, docstrings: bool) -> bytes | str:
    """Return the bytecode of a file, or the error text of one that does not compile.

    Args:
        shown: Its path in tracebacks.
        docstrings: Whether docstrings stay.
    """
    try:
        code = compile(source if docstrings else without_docstrings(source), shown, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
    # An unchecked hash: the page does not compare a module with its source, and the file has no date.
    data: bytes = _code_to_hash_pyc(code, source_hash(source), False)
    return data


def without_docstrings(source: bytes) -> ast.Module:
    """Parse a source and remove the docstrings.

    The first line of a decorated class's docstring stays: for a dataclass without one, `dataclasses` generates one from
    its signature, which takes longer.
    """
    module = ast.parse(source)
    for node in ast.walk(module):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if (docstring := ast.get_docstring(node, clean=False)) is None:
            continue
        first, *rest = node.body
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            line = ast.Constant(docstring.partition("\n")[0])
            node.body = [ast.fix_missing_locations(ast.copy_location(ast.Expr(line), first)), *rest]
        else:
            node.body = rest or [ast.copy_location(ast.Pass(), first)]
    return module
