"""Compiles the Python files /in/0, /in/1, … to /out, with the paths of their code objects as they are in the page.

/in/shown.json lists the path that tracebacks show for each. A file that does not compile is no failure: packages carry
such files on purpose.
"""

from __future__ import annotations

import json
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path


async def main() -> dict[int, str]:
    """Compile them all; return what is wrong with those that do not compile, by number."""
    return compile_all()


def compile_all() -> dict[int, str]:
    """Compile a file for each path that tracebacks are to show."""
    shown = json.loads(Path("/in/shown.json").read_text("utf-8"))
    errors: dict[int, str] = {}
    for number, name in enumerate(shown):
        source = Path(f"/in/{number}").read_bytes()
        try:
            code = compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            errors[number] = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
            continue
        # Unchecked: the page does not compare a module with its source, and there is no date in it.
        Path(f"/out/{number}").write_bytes(_code_to_hash_pyc(code, source_hash(source), False))
    return errors
