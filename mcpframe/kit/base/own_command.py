"""The command by which a client starts mcpframe later, as it is installed here.

`uvx mcpframe` runs from uv's cache, whose folders are removed with it. What it installs is therefore a command of uvx,
which fetches the same version again; by its path, as programs that are started from a desktop lack the shell's PATH.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from mcpframe.kit.base.extras import Extra
from mcpframe.kit.base.processes import python


def own_command(*arguments: str, extra: Extra | None = None) -> list[str]:
    """Return a command of mcpframe, independent of the working directory.

    Args:
        arguments: The command and its arguments.
        extra: What it needs besides the packages that every installation has.
    """
    uvx = _uvx()
    if uvx is None:
        return python("-m", "mcpframe", *arguments)
    own = version("mcpframe")
    package = [f"mcpframe@{own}"] if extra is None else ["--from", f"mcpframe[{extra}]=={own}", "mcpframe"]
    return [uvx, *package, *arguments]


def is_own(arguments: object) -> bool:
    """Return whether a list has the arguments of a client's command that runs the bridge or the hub of mcpframe."""
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        return False
    words = arguments[1:] if arguments[:1] == ["-P"] else arguments  # earlier versions did not add it
    words = words[2:] if words[:1] == ["--from"] and words[1:2] and words[1].startswith("mcpframe") else words
    words = words[1:] if words[:1] == ["-m"] else words
    return len(words) > 1 and words[0].partition("@")[0] == "mcpframe" and words[1] in ("bridge", "hub")


def _uvx() -> str | None:
    """Return the path of uvx if this Python is in uv's cache, which has a mark; None if it was installed to stay."""
    uv = os.environ.get("UV")  # uv sets it for what it runs
    if not uv or not any((above / "CACHEDIR.TAG").is_file() for above in Path(sys.prefix).parents):
        return None
    return shutil.which("uvx", path=str(Path(uv).parent)) or shutil.which("uvx")
