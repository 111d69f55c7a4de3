"""Compile the Python files /in/0, /in/1, … to /out, with their paths in the page.

/in/given.json has the path of each in tracebacks, and whether docstrings of functions and modules are kept. A
file that does not compile is not an error: some packages include such files, as for other versions of Python.
"""

from __future__ import annotations

import ast
import json
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path


async def main() -> dict[int, str]:
    """Compile all files; return the compile errors by number."""
    return compile_all()


def compile_all() -> dict[int, str]:
    """Compile one file for each path in given.json, and return the errors by number."""
    given = json.loads(Path("/in/given.json").read_text("utf-8"))
    errors: dict[int, str] = {}
    for number, name in enumerate(given["shown"]):
        source = Path(f"/in/{number}").read_bytes()
        try:
            parsed = source if given["docstrings"] else without_docstrings(source)
            code = compile(parsed, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            errors[number] = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
            continue
        # An unchecked hash: the page does not compare a module with its source, and the file has no date.
        Path(f"/out/{number}").write_bytes(_code_to_hash_pyc(code, source_hash(source), False))
    return errors


def without_docstrings(source: bytes) -> ast.Module:
    """Parse a source and remove the docstrings of functions and modules.

    Those of classes stay: for a dataclass without one, `dataclasses` generates one from its signature, which takes
    longer.
    """
    module = ast.parse(source)
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            first, *rest = node.body
            node.body = rest or [ast.copy_location(ast.Pass(), first)]
    return module
