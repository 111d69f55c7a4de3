"""Compile the Python files /in/0, /in/1, … to /out, with the paths that they have in the page.

/in/shown.json lists the path that tracebacks show for each. A file that does not compile is not an error: some packages
include such files, as for other versions of Python.
"""

from __future__ import annotations

import json
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path


async def main() -> dict[int, str]:
    """Compile all files; return the errors of those that do not compile, by number."""
    return compile_all()


def compile_all() -> dict[int, str]:
    """Compile one file for each path in shown.json, and return the errors by number."""
    shown = json.loads(Path("/in/shown.json").read_text("utf-8"))
    errors: dict[int, str] = {}
    for number, name in enumerate(shown):
        source = Path(f"/in/{number}").read_bytes()
        try:
            code = compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            errors[number] = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
            continue
        # An unchecked hash: the page does not compare a module with its source, and the file has no date.
        Path(f"/out/{number}").write_bytes(_code_to_hash_pyc(code, source_hash(source), False))
    return errors
