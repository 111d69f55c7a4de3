"""The bytecode of Python files in a bundle. A build compiles in a separate Pyodide, and a page in its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.in_pyodide.compile import bytecode
from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION

_TAG = "cpython-" + "".join(PYTHON_VERSION.split(".")[:2])

#: Modules that read their own source when they are imported: anyio's lazy importer.
READS_ITS_SOURCE = frozenset({"anyio/__init__.py"})

Docstrings = Literal["all", "offered", "none", "removed"]
"""The docstrings that stay, or in place of bytecode those that "offered" removes: see `in_pyodide.compile.bytecode`."""


class Compiler(Protocol):
    """Compiles sources, each with the path that tracebacks show, to the bytecode or the error text of each."""

    def __call__(self, sources: Sequence[tuple[bytes, str]], /, *, docstrings: Docstrings) -> list[bytes | str]: ...


def compiled_here(sources: Sequence[tuple[bytes, str]], *, docstrings: Docstrings) -> list[bytes | str]:
    """Compile in this Python, which has to be that of bundles: see `Compiler`."""
    return [bytecode(source, shown, docstrings=docstrings) for source, shown in sources]


def compile_libraries(
    libraries: Mapping[str, Files], compiler: Compiler, *, shown: str, docstrings: Docstrings = "all"
) -> dict[str, dict[str, bytes]]:
    """Replace the Python files of libraries by bytecode.

    Sources are left out.

    Args:
        libraries: The files of each library, by its name.
        shown: The folder in tracebacks.
        docstrings: Those that stay, as tools are described by them.

    Returns:
        The files of each library. A module that does not compile, as for another version of Python, stays as source.
    """
    modules = [(name, path) for name, files in libraries.items() for path in files if path.endswith(".py")]
    sources = [(libraries[name][path], f"{shown}/{path}") for name, path in modules]
    results = {name: dict(files) for name, files in libraries.items()}
    for (name, path), outcome in zip(modules, compiler(sources, docstrings=docstrings), strict=True):
        if isinstance(outcome, bytes):
            if path in READS_ITS_SOURCE:
                results[name][bytecode_path(path)] = outcome
            else:
                del results[name][path]
                results[name][path + "c"] = outcome
    return results


def compile_server(files: Files, compiler: Compiler, *, shown: str, root: Path) -> dict[str, bytes]:
    """Add bytecode beside the author's Python files; the sources stay, so that tracebacks show lines.

    Args:
        files: The author's files.
        shown: Their folder in the page.
        root: Their folder on this machine, for errors.

    Raises:
        BuildError: A file does not compile.
    """
    paths = [path for path in sorted(files) if path.endswith(".py")]
    results = dict(files)
    outcomes = compiler([(files[path], f"{shown}/{path}") for path in paths], docstrings="all")
    for path, outcome in zip(paths, outcomes, strict=True):
        if isinstance(outcome, str):
            raise BuildError(f"{root / path} is not valid Python {PYTHON_VERSION.rpartition('.')[0]}: {outcome}.")
        results[bytecode_path(path)] = outcome
    return results


def bytecode_path(path: str) -> str:
    """Return the path of the bytecode of a module whose source is there."""
    pure = PurePosixPath(path)
    return str(pure.parent / "__pycache__" / f"{pure.stem}.{_TAG}.pyc")
