"""Compiles the Python files /in/0, /in/1, … to /out, with the paths of their code objects as they are in the page.

/in/shown.json lists the path that tracebacks show for each. Files that do not compile are in /out/errors.json with the
reason, by number: packages carry such files on purpose.
"""

import json
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path

errors = {}
for number, shown in enumerate(json.loads(Path("/in/shown.json").read_text("utf-8"))):
    source = Path(f"/in/{number}").read_bytes()
    try:
        code = compile(source, shown, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        errors[number] = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
        continue
    # Unchecked: the page does not compare a module with its source, and there is no date in it.
    Path(f"/out/{number}").write_bytes(_code_to_hash_pyc(code, source_hash(source), False))
Path("/out/errors.json").write_text(json.dumps(errors))
