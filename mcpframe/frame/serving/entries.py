"""Entries, which name objects in the author's code.

`module:object` names an object, `module:factory()` a function that is called without arguments and returns one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import EntryError

if TYPE_CHECKING:
    from mcpframe.frame.page.session_page import Page


_CALL = "()"
WRAPPER = "_mcpframe_wrapper"
"""The attribute of a server object with its `WrappedServer`."""


def find(entry: str, instead: Callable[[ModuleType], str]) -> Any:
    """Import the object that an entry names: for `module:factory()`, the factory.

    Args:
        entry: `module:object`, as in uvicorn; either part may be dotted.
        instead: returns the error text for a module without the object.

    Raises:
        EntryError: if the entry has another form, its module or one that it imports is missing, or the object is
            missing. Other exceptions of the module are passed on.
    """
    if not re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*(\(\))?", entry):
        raise EntryError(
            f"The entry {entry!r} has to be 'module:object', such as 'server:server', or 'module:factory()'."
        )
    module_name, _, path = entry.removesuffix(_CALL).partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        from mcpframe.frame.page import hints  # late, as few pages need it

        missing = error.name or ""
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise EntryError(f"The entry {entry!r}: there is no module named {missing!r}.") from error
        raise EntryError(
            f"The entry {entry!r}: importing {module_name!r} needs {missing!r}, which is not installed. "
            f"{hints.missing_module(missing)}"
        ) from error
    target: object = module
    for part in path.split("."):
        if not hasattr(target, part):
            raise EntryError(f"The entry {entry!r}: {module_name!r} has no {path!r}; {instead(module)}.")
        target = getattr(target, part)
    return target


def is_factory(entry: str) -> bool:
    """Return whether an entry names a function that returns the object."""
    return entry.endswith(_CALL)


async def call_factory(entry: str, factory: Any) -> Any:
    """Call the function that an entry names, without arguments, and return its result.

    Args:
        entry: `module:factory()`, for errors.
        factory: the function. It may be async.

    Raises:
        EntryError: if it is not a function, or needs arguments. Its own exceptions are passed on.
    """
    if not callable(factory):
        raise EntryError(
            f"The entry {entry!r} calls an object of type {type(factory).__name__}; "
            f"where it is the server itself, write {entry.removesuffix(_CALL)!r}."
        )
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):  # some callables written in C have none
        parameters = []
    required = [
        item.name
        for item in parameters
        if item.default is item.empty and item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
    ]
    if required:
        raise EntryError(
            f"The entry {entry!r} is called without arguments, but needs {', '.join(required)}: "
            "name a function without parameters that passes them."
        )
    server = factory()
    return await server if inspect.isawaitable(server) else server


def load_server(entry: str, is_server: Callable[[object], bool], kinds: str) -> Any:
    """Import the server that an entry names.

    Args:
        entry: `module:object`.
        is_server: returns whether an object is a server.
        kinds: the accepted kinds of servers, for errors.

    Raises:
        EntryError: see `find`; or if the object is not a server.
    """
    return _checked(entry, _found(entry, is_server), is_server, kinds)


async def open_server(entry: str, is_server: Callable[[object], bool], kinds: str) -> Any:
    """Import the server that an entry names, or call the factory that it names; see `load_server`.

    Raises:
        EntryError: see `load_server` and `call_factory`.
    """
    server = _found(entry, is_server)
    if is_factory(entry):
        server = await call_factory(entry, server)
    return _checked(entry, server, is_server, kinds)


def _found(entry: str, is_server: Callable[[object], bool]) -> Any:
    def servers_in(module: ModuleType) -> str:
        names = [name for name, value in vars(module).items() if is_server(value)]
        return f"its servers are: {', '.join(names)}" if names else "and no server under another name"

    return find(entry, servers_in)


def _checked(entry: str, found: object, is_server: Callable[[object], bool], kinds: str) -> Any:
    if not is_server(found):
        raise EntryError(f"The entry {entry!r} is of type {type(found).__name__}; it has to be {kinds}.")
    return getattr(found, WRAPPER, found)


def load_main(entry: str) -> Callable[[Page], Awaitable[None]]:
    """Import the main function of a page bundle.

    Args:
        entry: `module:function`.

    Raises:
        EntryError: see `find`; or if it names no async function.
    """
    main: Callable[[Page], Awaitable[None]] = find(entry, lambda _: "write `async def main(page): ...` in it")
    if not inspect.iscoroutinefunction(main):
        raise EntryError(
            f"The entry {entry!r} is of type {type(main).__name__}; that of a page has to be an async function: "
            "async def main(page): ..."
        )
    return main
