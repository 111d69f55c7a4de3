"""Run Python jobs in Pyodide under a confined Node, with folders and archives of the build in its file system."""

from __future__ import annotations

import json
import math
import os
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ToolFailed, ToolTimeout
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.processes import Running, running
from mcpframe.kit.base.progress import count
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.pyodide.runtime import Runtime

OUTPUT = "/out"
"""The folder in Python's file system for the files that a job returns."""

ALONE = frozenset({"compile"})
"""Jobs that run before anything is unpacked, as a native library runs code when it is loaded."""
_START, _UNPACK = "start", "unpack"  # the steps besides the jobs
_PATIENCE = 300.0  # seconds
_CORES = 4  # kept busy by one Pyodide: JavaScript engines compile and collect garbage in threads
_MOST_HEAD = 64 * 1024 * 1024
_MOST_BODY = 512 * 1024 * 1024


@dataclass(frozen=True)
class Mounted:
    """An archive that is unpacked before the job runs.

    Attributes:
        file: The zip.
        to: The folder in Python's file system.
        libraries: The native libraries to load, by path in the archive.
    """

    file: Path
    to: str
    libraries: tuple[str, ...] = ()


def job_sources(name: str) -> tuple[str, str]:
    """Return the source of a job and of the script for Node, for the keys of caches."""
    return job_text(name), _script().read_text("utf-8")


def _script() -> Path:
    return static_dir() / "build" / "node-python.mjs"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job.

    Attributes:
        result: The JSON value that its `main` returned.
        files: The files that it wrote to `OUTPUT`, by name.
    """

    result: Any
    files: Mapping[str, bytes]


class JobTimeout(ToolTimeout):
    """One of the jobs took too long.

    Args:
        job: Its name.
        seconds: Its time limit.
    """

    def __init__(self, job: str, seconds: float) -> None:
        super().__init__(f"The job {job!r} in Pyodide took more than {seconds:g} seconds and was stopped.")
        self.job = job


class JobFailed(ToolFailed):
    """One of the jobs raised, ended Python, or returned something invalid.

    Args:
        job: Its name.
        error: The reason.
    """

    def __init__(self, job: str, error: ToolFailed) -> None:
        super().__init__(f"The job {job!r} in Pyodide fails: {error}", error.output)
        self.job = job


def run_in_pyodide(
    jobs: Sequence[str],
    runtime: Runtime,
    *,
    folders: Mapping[str, Path] | None = None,
    archives: Sequence[Mounted] = (),
    stdlib: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeouts: Mapping[str, float] | None = None,
    evaluates: bool = False,
) -> list[Outcome]:
    """Run jobs of `in_pyodide`, one after another, and return the outcome of each.

    They run under a Node without this process's environment. It can read only the given folders and archives, cannot
    write files or start processes, and has no network (see `static/build/node-python.mjs`). A job cannot change the
    outcome of an earlier one.

    Args:
        jobs: Their names, without `.py`. Those without archives come first, and run before one is unpacked.
        folders: Readable folders of this machine, by their path in Python's file system.
        stdlib: A compiled standard library, which starts faster than the runtime's own.
        env: Environment variables of the jobs.
        timeouts: Time limits by job, in seconds; the others have 300.
        evaluates: Whether JavaScript may be run from text.

    Raises:
        JobTimeout: A job took too long.
        JobFailed: A job raised, or returned something invalid; its `output` has the traceback.
        ToolFailed: Node does not start.
        NodeMissing: There is no Node.js.
    """
    alone = sum(job in ALONE for job in jobs)
    assert all(job in ALONE for job in jobs[:alone])
    data = {
        "pyodide": str(runtime.folder.resolve()),
        "stdlib": str(stdlib.resolve()) if stdlib else None,
        "env": dict(env or {}),
        "mounts": {path: str(folder.resolve()) for path, folder in (folders or {}).items()},
        "output": OUTPUT,
        "archives": [
            {"file": str(item.file.resolve()), "to": item.to, "libraries": item.libraries} for item in archives
        ],
        "alone": alone,
        "jobs": [{"name": f"{job}.py", "source": job_text(job)} for job in jobs],
    }
    readable = [runtime.folder, *(folders or {}).values(), *(item.file for item in archives)]
    command = find_node().confined(
        _script(),
        readable=[*readable, *([stdlib] if stdlib else [])],
        evaluates=evaluates,
    )
    steps = [_START, *jobs[:alone], *([_UNPACK, *jobs[alone:]] if alone < len(jobs) else [])]
    limits = [(step, (timeouts or {}).get(step, _PATIENCE)) for step in steps]
    outcomes = []
    with running(
        command,
        "node",
        data=json.dumps(data).encode(),
        environment=_environment(),
        processor_seconds=math.ceil(_CORES * sum(seconds for _, seconds in limits)),
    ) as node:
        for name, seconds in limits:
            try:
                outcome = _frame(node, time.monotonic() + seconds)
            except ToolTimeout as error:
                raise JobTimeout(name, seconds) from error
            except ToolFailed as error:
                raise JobFailed(name, error) from error
            if name not in (_START, _UNPACK):
                outcomes.append(outcome)
    return outcomes


def _environment() -> dict[str, str]:
    """Return the environment of Node: nothing from this process's, which imported modules could read."""
    return {
        name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ
    }  # no process starts on Windows without it


def _frame(node: Running, deadline: float) -> Outcome:
    """Read one frame of static/build/node-python.mjs, and report the counts before it.

    Once untrusted modules are imported, they may have forged any of them.
    """
    while time.monotonic() < deadline:  # a job may print counts for ever
        outcome = _outcome(node, deadline)
        if outcome is not None:
            return outcome
    raise ToolTimeout("Pyodide took too long and was stopped.")


def _outcome(node: Running, deadline: float) -> Outcome | None:
    """Read a frame; return None for a count."""
    head_size, body_size = struct.unpack("<II", node.read(8, deadline))
    if head_size > _MOST_HEAD or body_size > _MOST_BODY:
        raise ToolFailed("Pyodide returned more data than the build accepts.")
    try:
        head = json.loads(node.read(head_size, deadline))
        if "counted" in head:
            done, total = head["counted"]
            count(int(done), int(total))
            return None
        result, listed = head["result"], [(str(name), int(size)) for name, size in head["files"]]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ToolFailed("Pyodide returned something that the build does not expect.") from error
    body = node.read(body_size, deadline)
    files, at = {}, 0
    for name, size in listed:
        files[name] = body[at : at + size]
        at += size
    return Outcome(result, files)
