"""`in_process`: functions that compute in a process of their own, in CPython as in a page."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import reduce, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def in_process(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make a function run in a process, and in a page in a worker, so that it blocks nothing and can be cancelled.

    Use it below `@server.tool()`. The function has to be at the top of its module; its arguments and its result have to
    be picklable. Global variables are those of the process.

    Args:
        function: an ordinary function.

    Returns:
        An async function of the same signature.

    Raises:
        TypeError: it is a method, or is defined within a function.
    """
    if "<locals>" in function.__qualname__:
        raise TypeError(f"{function.__qualname__} has to be at the top of its module, where a process finds it.")
    where = function.__module__, function.__qualname__

    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        import anyio.to_process

        result: T = await anyio.to_process.run_sync(_call, *where, args, kwargs, cancellable=True)
        return result

    return run


def _call(module: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a decorated function, in the process."""
    function: Any = reduce(getattr, name.split("."), import_module(module))
    return function.__wrapped__(*args, **kwargs)
