"""The browser's processes: their memory, threads and open files. Empty where the system does not say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_DRIVERS = ("node",)
"""The names of child processes that are not the browser's; Node.js calls its own `node-MainThread`."""


def browser_processes(kinds: Sequence[str] = ()) -> list[int]:
    """Return the numbers of the processes that this one, or a process of those, has started.

    Args:
        kinds: of Chromium's processes; empty for all of any browser.
    """
    parents: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):
            parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            parents.setdefault(int(parent), []).append(int(folder.name))
    found, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        waiting += children
        found += [child for child in children if _name(child).partition("-")[0] not in _DRIVERS]
    return [process for process in found if not kinds or _kind(process) in kinds]


def allocated(process: int) -> float:
    """Return the megabytes that a process may write and shares with no other, whether used or not."""
    for line in (_PROC / str(process) / "status").read_text("utf-8").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident(processes: list[int]) -> float:
    """Return the memory of processes in megabytes; what they share counts once.

    Files in it, such as the browser's program, do not count: the share of a process grows when other browsers end.
    """
    total = 0
    for process in processes:
        with suppress(OSError):
            for line in (_PROC / str(process) / "smaps_rollup").read_text("utf-8").splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                    total += int(line.split()[1])
    return total / 1024


def threads(processes: list[int], name: str) -> int:
    """Return how many threads have a name; the system keeps its first 15 characters."""
    return sum(found == name[:15] for process in processes for found in _threads(process))


def open_files(processes: list[int]) -> int:
    """Return how many files processes have open."""
    total = 0
    for process in processes:
        with suppress(OSError):
            total += sum(1 for _ in (_PROC / str(process) / "fd").iterdir())
    return total


def _threads(process: int) -> Iterator[str]:
    for folder in (_PROC / str(process) / "task").glob("*"):
        with suppress(OSError):
            yield (folder / "comm").read_text("utf-8", "replace").strip()


def _kind(process: int) -> str:
    """Return the kind of a process of Chromium; empty for its first one."""
    with suppress(OSError):
        words = (_PROC / str(process) / "cmdline").read_text("utf-8", "replace").replace("\0", " ")
        for word in words.split():
            if word.startswith("--type="):
                return word.removeprefix("--type=")
    return ""


def _name(process: int) -> str:
    try:
        return (_PROC / str(process) / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
