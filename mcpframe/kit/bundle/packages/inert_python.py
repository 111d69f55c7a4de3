"""A stub interpreter for uv: it describes this machine's Python, and runs no code.

For a package that has only sources, and does not state in them what it requires, uv would run the package's build code
on the author's machine. The program that stands in for Python prints a recorded answer to uv's question about the
interpreter. uv knows no path of the real one, so there is no way to run code, whatever a package contains.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from uv import find_uv_bin

from mcpframe.kit.base.cache import cache_dir, new_folder
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.compile import cache_key

REFUSAL = "mcpframe runs no code of a package on this machine"
"""The words that the program prints if uv calls it to build a package."""

_NAME = "python"
_ASKING = '#!/bin/sh\n{python} "$@" | tee {answer}\n'
# uv calls `python -c CODE` to build a package, and nothing else begins with -c.
_ANSWERING = """\
#!/bin/sh
if [ "$1" = -c ]; then
    echo '{refusal}' >&2
    exit 1
fi
cat <<'END'
{answer}
END
"""
_REFUSING = f"""\
import os, sys

sys.stderr.write({REFUSAL!r} + "\\n")
sys.stderr.flush()
os._exit(1)
"""


@dataclass(frozen=True)
class InertPython:
    """A Python for uv that builds no package.

    Attributes:
        program: Its path.
        environment: The environment variables that uv needs for it.
    """

    program: str
    environment: Mapping[str, str] = field(default_factory=dict)


def inert_python() -> InertPython:
    """Return the program, made once for a Python and a uv.

    Raises:
        ToolFailed: uv fails.
        WriteError: The cache cannot be written.
    """
    key = cache_key(sys.executable, sys.version, version("uv"), platform.platform(), _ANSWERING, _REFUSING)
    folder = cache_dir() / "inert-python" / key
    if not folder.is_dir():
        with locked(folder):
            if not folder.is_dir():  # another process may have made it meanwhile
                _make(folder)
    if os.name == "posix":
        return InertPython(str(folder / _NAME))
    # A script is not a program on Windows. uv asks in isolated mode, which ignores this folder, and builds without it.
    return InertPython(sys.executable, {"PYTHONPATH": str(folder)})


def _make(folder: Path) -> None:
    with new_folder(folder) as new:
        if os.name != "posix":
            (new / "sitecustomize.py").write_text(_REFUSING, "utf-8", newline="\n")
            return
        answer = json.dumps(_without_python(json.loads(_answer()), str(folder)))
        program = new / _NAME
        program.write_text(_ANSWERING.format(refusal=REFUSAL, answer=answer), "utf-8", newline="\n")
        program.chmod(0o700)


def _answer() -> str:
    """Return the answer of this Python to uv's question."""
    with scratch("python") as folder:
        program, answer = folder / _NAME, folder / "answer.json"
        asking = _ASKING.format(python=shlex.quote(sys.executable), answer=shlex.quote(str(answer)))
        program.write_text(asking, "utf-8", newline="\n")
        program.chmod(0o700)
        command = [find_uv_bin(), "python", "find", "--no-config", "--no-project", "--offline", "--no-python-downloads"]
        run_tool([*command, "--cache-dir", str(folder / "uv"), str(program)], "uv", timeout=60)
        return answer.read_text("utf-8")


def _without_python(answer: Any, folder: str) -> Any:
    """Return the answer with the program in place of the real one, and the folder in place of all others."""
    if isinstance(answer, dict):
        return {key: _without_python(value, folder) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_without_python(value, folder) for value in answer]
    if not isinstance(answer, str) or not Path(answer).is_absolute():
        return answer
    is_program = Path(answer).is_file() and os.access(answer, os.X_OK)
    return f"{folder}/{_NAME}" if is_program else folder
