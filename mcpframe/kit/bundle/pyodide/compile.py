"""Compile Python files to bytecode inside Pyodide, as the format of this machine's Python differs.

The result for each set of files is cached under a hash of its inputs, so a build compiles only changed files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.bytecode import Compiler, Docstrings
from mcpframe.kit.bundle.pyodide.job import Outcome, run_in_pyodide
from mcpframe.kit.bundle.pyodide.runtime import Runtime

Run = Callable[[Mapping[str, Path]], Outcome]
"""Runs the job `compile` with these folders, and returns its outcome: the errors and the files."""


def compile_by(run: Run, sources: Sequence[tuple[bytes, str]], *, docstrings: Docstrings) -> list[bytes | str]:
    """Compile sources by a run of the job: a `Compiler`, given its first argument."""
    if not sources:
        return []
    with scratch("compile") as given:
        for number, (source, _) in enumerate(sources):
            (given / str(number)).write_bytes(source)
        about = {"shown": [shown for _, shown in sources], "docstrings": docstrings}
        (given / "given.json").write_text(json.dumps(about), "utf-8", newline="\n")
        outcome = run({"/in": given})
    return [outcome.result.get(str(n)) or outcome.files[str(n)] for n in range(len(sources))]


def library_compiler(runtime: Runtime, stdlib: Path | None = None) -> Compiler:
    """Return a compiler for libraries, in one run of Pyodide.

    Without the column numbers of tracebacks, which are useless without sources.

    Args:
        stdlib: The compiled standard library, if it exists already.
    """
    return partial(compile_by, compiling(runtime, stdlib, {"PYTHONNODEBUGRANGES": "1"}))


def compiling(runtime: Runtime, stdlib: Path | None, env: Mapping[str, str] | None = None) -> Run:
    """Return a function that runs the job `compile` in its own Pyodide.

    Args:
        stdlib: The compiled standard library, if it exists already: Pyodide then starts in a third of the time.
        env: Environment variables of the job.
    """

    def run(folders: Mapping[str, Path]) -> Outcome:
        [outcome] = run_in_pyodide(["compile"], runtime, folders=folders, stdlib=stdlib, env=env)
        return outcome

    return run


def cache_key(*parts: str | bytes) -> str:
    """Return the hash of all inputs of a result."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def cached(kind: str, key: str) -> Path:
    """Return the path of a result in the cache; it need not exist."""
    return cache_dir() / kind / key
