"""Runs Python programs inside Pyodide under Node, confined, with folders and archives of ours in it."""

from __future__ import annotations

import json
import math
import os
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ToolFailed, ToolTimeout
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.programs import Running, running
from mcpframe.kit.bundle.runtime import Runtime

OUTPUT = "/out"
"""The folder in Python's file system that the files which a program gives are in."""

_ALONE = frozenset({"compile"})  # programs that run before anything is unpacked: a native library runs code when loaded
_START, _UNPACK = "start", "unpack"  # what takes time besides the programs
_PATIENCE = 300.0  # seconds
_CORES = 4  # that a Pyodide may keep busy: JavaScript compiles and frees memory in threads of its own
_MOST_HEAD = 64 * 1024 * 1024
_MOST_BODY = 512 * 1024 * 1024


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


@dataclass(frozen=True)
class Outcome:
    """What came of a program.

    Attributes:
        result: What its `main` has returned, by way of JSON.
        files: What it has written to `OUTPUT`, by name.
    """

    result: Any
    files: Mapping[str, bytes]


class ProgramTimeout(ToolTimeout):
    """One of the programs took too long.

    Args:
        program: Its name.
        seconds: How long it may take.
    """

    def __init__(self, program: str, seconds: float) -> None:
        super().__init__(f"The program {program!r} in Pyodide took more than {seconds:g} seconds and was stopped.")
        self.program = program


class ProgramFailed(ToolFailed):
    """One of the programs raised, ended Python, or gave something that no program should.

    Args:
        program: Its name.
        error: What was wrong.
    """

    def __init__(self, program: str, error: ToolFailed) -> None:
        super().__init__(f"The program {program!r} in Pyodide fails: {error}", error.output)
        self.program = program


def run_in_pyodide(
    programs: Sequence[str],
    runtime: Runtime,
    *,
    folders: Mapping[str, Path] | None = None,
    archives: Sequence[Mounted] = (),
    stdlib: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeouts: Mapping[str, float] | None = None,
    evaluates: bool = False,
) -> list[Outcome]:
    """Run programs of `in_pyodide`, one after another, and return the outcome of each.

    They run under Node, which has no environment of this process, may read nothing but what is given here, and may
    write no file, start no program and use no network (see `static/build/node-python.mjs`). What an earlier program has
    given cannot be changed by a later one.

    Args:
        programs: Their names, without `.py`. Those that need no archive come first, and run before one is unpacked.
        runtime: The runtime.
        folders: Folders of this machine by the path where the programs find them, to be read.
        archives: What is unpacked before.
        stdlib: A compiled standard library, which starts faster than the runtime's own.
        env: Environment variables of the programs.
        timeouts: The longest that programs may take, in seconds, by name; others have 300.
        evaluates: Whether JavaScript may be run from text.

    Raises:
        ProgramTimeout: A program took too long.
        ProgramFailed: A program raised, or gave more than any should; its `output` has the traceback.
        ToolFailed: Node does not start.
        NodeMissing: There is no Node.js.
    """
    alone = sum(program in _ALONE for program in programs)
    assert all(program in _ALONE for program in programs[:alone])
    job = {
        "pyodide": str(runtime.folder.resolve()),
        "stdlib": str(stdlib.resolve()) if stdlib else None,
        "env": dict(env or {}),
        "mounts": {path: str(folder.resolve()) for path, folder in (folders or {}).items()},
        "output": OUTPUT,
        "archives": [
            {"file": str(item.file.resolve()), "to": item.to, "libraries": item.libraries} for item in archives
        ],
        "alone": alone,
        "programs": [{"name": f"{program}.py", "source": program_text(program)} for program in programs],
    }
    readable = [runtime.folder, *(folders or {}).values(), *(item.file for item in archives)]
    command = find_node().confined(
        static_dir() / "build" / "node-python.mjs",
        readable=[*readable, *([stdlib] if stdlib else [])],
        evaluates=evaluates,
    )
    steps = [_START, *programs[:alone], *([_UNPACK, *programs[alone:]] if alone < len(programs) else [])]
    limits = [(step, (timeouts or {}).get(step, _PATIENCE)) for step in steps]
    outcomes = []
    with running(
        command,
        "node",
        data=json.dumps(job).encode(),
        environment=_environment(),
        processor_seconds=math.ceil(_CORES * sum(seconds for _, seconds in limits)),
    ) as node:
        for name, seconds in limits:
            try:
                outcome = _frame(node, time.monotonic() + seconds)
            except ToolTimeout as error:
                raise ProgramTimeout(name, seconds) from error
            except ToolFailed as error:
                raise ProgramFailed(name, error) from error
            if name not in (_START, _UNPACK):
                outcomes.append(outcome)
    return outcomes


def _environment() -> dict[str, str]:
    """Nothing of this process's: what is in it would be there for the modules that are imported, too."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # Windows starts nothing without


def _frame(node: Running, deadline: float) -> Outcome:
    """Read one frame of static/build/node-python.mjs. It may be forged where untrusted modules have been imported."""
    head_size, body_size = struct.unpack("<II", node.read(8, deadline))
    if head_size > _MOST_HEAD or body_size > _MOST_BODY:
        raise ToolFailed("Pyodide gave more than any program of the build should.")
    try:
        head = json.loads(node.read(head_size, deadline))
        result, listed = head["result"], [(str(name), int(size)) for name, size in head["files"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ToolFailed("Pyodide gave something else than the build expects.") from error
    body = node.read(body_size, deadline)
    files, at = {}, 0
    for name, size in listed:
        files[name] = body[at : at + size]
        at += size
    return Outcome(result, files)
