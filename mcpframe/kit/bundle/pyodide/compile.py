"""Compile Python files to bytecode inside Pyodide, as the format of this machine's Python differs.

The result for each set of files is cached under a hash of its inputs, so a build compiles only changed files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.kit.bundle.pyodide.job import Outcome, run_in_pyodide
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION

_TAG = "cpython-" + "".join(PYTHON_VERSION.split(".")[:2])

Run = Callable[[Mapping[str, Path]], Outcome]
"""Runs the program `compile` with these folders, and returns its outcome: the errors and the files."""

#: Modules that read their own source when they are imported: anyio's lazy importer.
READS_ITS_SOURCE = frozenset({"anyio/__init__.py"})


def compile_libraries(
    libraries: Mapping[str, Files],
    runtime: Runtime,
    *,
    shown: str,
    stdlib: Path | None = None,
    docstrings: bool = True,
) -> dict[str, dict[str, bytes]]:
    """Replace the Python files of libraries by bytecode, in one run of Pyodide.

    Sources are left out, and with them the column numbers of tracebacks, which are useless without sources.

    Args:
        libraries: The files of each library, by its name.
        shown: The folder in tracebacks.
        stdlib: The compiled standard library, if it exists already.
        docstrings: Whether docstrings stay, as tools are described by them.

    Returns:
        The files of each library. A module that does not compile, as for another version of Python, stays as source.
    """
    modules = [(name, path) for name, files in libraries.items() for path in files if path.endswith(".py")]
    outcomes = _compile(
        [(libraries[name][path], f"{shown}/{path}") for name, path in modules],
        compiling(runtime, stdlib, {"PYTHONNODEBUGRANGES": "1"}),
        docstrings=docstrings,
    )
    results = {name: dict(files) for name, files in libraries.items()}
    for (name, path), outcome in zip(modules, outcomes, strict=True):
        if isinstance(outcome, bytes):
            if path in READS_ITS_SOURCE:
                results[name][bytecode_path(path)] = outcome
            else:
                del results[name][path]
                results[name][path + "c"] = outcome
    return results


def compile_server(files: Files, run: Run, *, shown: str, root: Path) -> dict[str, bytes]:
    """Add bytecode beside the author's Python files; the sources stay, so that tracebacks show lines.

    Args:
        files: The author's files.
        run: Runs the program; see `compiling`.
        shown: Their folder in the page.
        root: Their folder on this machine, for errors.

    Raises:
        BuildError: A file does not compile.
    """
    paths = [path for path in sorted(files) if path.endswith(".py")]
    results = dict(files)
    outcomes = _compile([(files[path], f"{shown}/{path}") for path in paths], run)
    for path, outcome in zip(paths, outcomes, strict=True):
        if isinstance(outcome, str):
            raise BuildError(f"{root / path} is not valid Python {PYTHON_VERSION.rpartition('.')[0]}: {outcome}.")
        results[bytecode_path(path)] = outcome
    return results


def bytecode_path(path: str) -> str:
    """Return the path of the bytecode of a module whose source is there."""
    pure = PurePosixPath(path)
    return str(pure.parent / "__pycache__" / f"{pure.stem}.{_TAG}.pyc")


def compiling(runtime: Runtime, stdlib: Path | None, env: Mapping[str, str] | None = None) -> Run:
    """Return a function that runs the program `compile` in its own Pyodide.

    Args:
        stdlib: The compiled standard library, if it exists already: Pyodide then starts in a third of the time.
        env: Environment variables of the program.
    """

    def run(folders: Mapping[str, Path]) -> Outcome:
        [outcome] = run_in_pyodide(["compile"], runtime, folders=folders, stdlib=stdlib, env=env)
        return outcome

    return run


def _compile(sources: Sequence[tuple[bytes, str]], run: Run, *, docstrings: bool = True) -> list[bytes | str]:
    """Compile sources, each with the path that tracebacks show; return the bytecode or the error text of each."""
    if not sources:
        return []
    with scratch("compile") as given:
        for number, (source, _) in enumerate(sources):
            (given / str(number)).write_bytes(source)
        about = {"shown": [shown for _, shown in sources], "docstrings": docstrings}
        (given / "given.json").write_text(json.dumps(about))
        outcome = run({"/in": given})
    return [outcome.result.get(str(n)) or outcome.files[str(n)] for n in range(len(sources))]


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
