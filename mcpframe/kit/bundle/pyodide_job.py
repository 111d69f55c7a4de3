"""Runs Python programs inside Pyodide under Node, with folders and archives of ours in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from mcpframe.kit.data import static_dir
from mcpframe.kit.node import find_node
from mcpframe.kit.runtime import Runtime


@dataclass(frozen=True)
class Mounted:
    """An archive that is unpacked before the program runs.

    Attributes:
        file: The zip.
        to: The folder in Python's file system.
        libraries: Native libraries in it, to be loaded, by path in the archive.
    """

    file: Path
    to: str
    libraries: tuple[str, ...] = ()


def program_text(name: str) -> str:
    """The source of one of the programs of `in_pyodide`, by its name without `.py`."""
    return (files("mcpframe.kit.bundle.in_pyodide") / f"{name}.py").read_text("utf-8")


def run_in_pyodide(
    programs: Sequence[str],
    runtime: Runtime,
    *,
    folders: Mapping[str, Path] | None = None,
    archives: Sequence[Mounted] = (),
    stdlib: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> list[Any]:
    """Run programs of `in_pyodide`, one after another, and return what the `main` of each returned, by way of JSON.

    Args:
        programs: Their names, without `.py`.
        runtime: The runtime.
        folders: Folders of this machine by the path where the programs find them.
        archives: What is unpacked before.
        stdlib: A compiled standard library, which starts faster than the runtime's own.
        env: Environment variables of the programs.
        timeout: The longest they may take, in seconds.

    Raises:
        ToolFailed: A program raised, or they took too long; its `output` has the traceback.
        NodeMissing: There is no Node.js.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-job-") as scratch:
        scripts = [Path(scratch) / f"{program}.py" for program in programs]
        for script in scripts:
            script.write_text(program_text(script.stem), "utf-8")
        job = {
            "pyodide": str(runtime.folder),
            "stdlib": str(stdlib) if stdlib else None,
            "env": dict(env or {}),
            "mounts": {path: str(folder) for path, folder in (folders or {}).items()},
            "archives": [{"file": str(item.file), "to": item.to, "libraries": item.libraries} for item in archives],
            "programs": [str(script) for script in scripts],
            "result": str(Path(scratch) / "result.json"),
        }
        description = Path(scratch) / "job.json"
        description.write_text(json.dumps(job), "utf-8")
        find_node().run(str(static_dir() / "node-python.mjs"), str(description), timeout=timeout)
        results: list[Any] = json.loads((Path(scratch) / "result.json").read_text("utf-8"))
        return results
