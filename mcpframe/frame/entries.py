"""Entries, `module:object`: how a configuration names an object in the author's code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import EntryError

if TYPE_CHECKING:
    from mcpframe.frame.ui import Page


def find(entry: str, instead: Callable[[ModuleType], str]) -> Any:
    """Import the object that an entry names.

    Args:
        entry: `module:object`, as uvicorn has it; either part may be dotted.
        instead: what to say of a module that has no such object.

    Raises:
        EntryError: The entry has another form, its module or a module that one needs is not there, or the object is
            missing. Whatever else the module raises is passed on as it is.
    """
    if not re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", entry):
        raise EntryError(f"The entry {entry!r} has to be 'module:object', such as 'server:server'.")
    module_name, _, path = entry.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        from mcpframe.frame import hints  # here, as few pages need it

        missing = error.name or ""
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise EntryError(f"The entry {entry!r}: there is no module named {missing!r}.") from error
        raise EntryError(
            f"The entry {entry!r}: importing {module_name!r} needs {missing!r}, which is not installed. "
            f"{hints.missing_module(missing)}"
        ) from error
    found: object = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise EntryError(f"The entry {entry!r}: {module_name!r} has no {path!r}; {instead(module)}.")
        found = getattr(found, part)
    return found


def load_main(entry: str) -> Callable[[Page], Awaitable[None]]:
    """Import the main function of a page bundle.

    Args:
        entry: `module:function`.

    Raises:
        EntryError: As `find`, and where it names no async function.
    """
    found: Callable[[Page], Awaitable[None]] = find(entry, lambda _: "write `async def main(page): ...` in it")
    if not inspect.iscoroutinefunction(found):
        raise EntryError(
            f"The entry {entry!r} is of type {type(found).__name__}; that of a page has to be an async function: "
            "async def main(page): ..."
        )
    return found
