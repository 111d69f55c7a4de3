"""Running other programs, with one clear error when they fail. Standard library only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcpframe.kit.errors import ToolFailed


def run_tool(
    command: Sequence[str],
    name: str,
    *,
    cwd: Path | None = None,
    timeout: float = 600,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end and return its standard output.

    Args:
        command: Program and arguments.
        name: What to call it in the error.
        cwd: The folder to run in.
        timeout: The longest it may take, in seconds.
        environment: Its environment variables; by default those of this process.

    Raises:
        ToolFailed: It could not be started, exited with an error, or took too long. The message holds the line of its
            output that says why.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolFailed(f"{name} took more than {timeout:.0f} seconds and was stopped.") from error
    except OSError as error:
        raise ToolFailed(f"{name} could not be started ({error}).") from error
    if done.returncode:
        output = done.stderr + done.stdout
        raise ToolFailed(f"{name} failed with status {done.returncode}: {_reason(output)}.", output)
    return done.stdout


_PREFIX = re.compile(r"(npm )?(err(or)?|E)\b:?\s*", re.IGNORECASE)
_NOT_WHY = re.compile(r"(code|errno|syscall|A complete log)\b")


def _reason(output: str) -> str:
    """The line of a failed program's output that says why: pip, uv, npm and apt mark it with a word like `error`."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [_PREFIX.sub("", line, count=1) for line in lines if _PREFIX.match(line)]
    told = [line for line in errors if line and not _NOT_WHY.match(line)]
    return (told or errors or lines or ["it printed nothing"])[0].rstrip(".")
