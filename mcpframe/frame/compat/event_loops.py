"""Event loops in a page, which has one: synchronous code that creates a loop, to run a coroutine in it, gets a front.

A coroutine of another loop would wait for the page's futures, and asyncio refuses that. A front runs coroutines in the
page's loop and has no tasks of its own, so that its end cancels none of the page's. With stack switching
`run_until_complete` and `asyncio.run` wait in the page's loop, which goes on. Without, they run a coroutine that never
waits, and raise an error where another one would.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from mcpframe.frame.compat import stack_switching

log = logging.getLogger("mcpframe")

_MOST_TURNS: Final = 1000
"""Turns of the loop that a coroutine may ask for without waiting, as by `asyncio.sleep(0)`."""

as_caller: Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]] = lambda coroutine: coroutine  # noqa: E731
"""Gives a coroutine the identity of the thread that waits for it: see `mcpframe.frame.world`."""


def keep_one() -> None:
    """Replace the functions that create and run event loops. Call it in Pyodide; does nothing when repeated."""
    if asyncio.new_event_loop is PageLoop:
        return
    loops: Any = asyncio
    loops.new_event_loop = loops.events.new_event_loop = PageLoop
    loops.set_event_loop = loops.events.set_event_loop = _set_event_loop
    loops.run = loops.runners.run = _run_as_asyncio
    loops.Runner.run = _run_in_runner
    page: Any = type(asyncio.get_running_loop())
    page.run_until_complete = _run_until_complete
    page.shutdown_asyncgens = PageLoop.shutdown_asyncgens
    _answer_nest_asyncio()


def run(awaitable: Any) -> Any:
    """Run a coroutine in the page's loop to its end, and return its result.

    Raises:
        TypeError: for an object that cannot be awaited.
        RuntimeError: if it has to wait, and this code cannot.
    """
    if not inspect.isawaitable(awaitable):
        raise TypeError("An asyncio.Future, a coroutine or an awaitable is required")
    coroutine = awaitable if inspect.iscoroutine(awaitable) else _awaiting(awaitable)
    if stack_switching.can_wait():
        return stack_switching.wait_for(as_caller(coroutine))
    return _run_unless_it_waits(coroutine)


def _run_unless_it_waits(coroutine: Coroutine[Any, Any, Any]) -> Any:
    context = copy_context()
    error = RuntimeError(
        f"This coroutine cannot be waited for here, as {stack_switching.why_not()}. Write an async function, and await "
        "in it."
    )
    try:
        for _ in range(_MOST_TURNS):
            if context.run(coroutine.send, None) is not None:
                break
        context.run(coroutine.throw, error)
    except StopIteration as end:
        return end.value
    coroutine.close()  # it has caught the error, and waits again
    raise error


class PageLoop(asyncio.AbstractEventLoop):
    """A front of the page's event loop, for code that creates one, runs coroutines in it and closes it.

    It does what the page's loop does, except for what would end that one.
    """

    def __init__(self) -> None:
        self._running = 0
        self._is_closed = False
        self._stopped: asyncio.Event | None = None

    def run_until_complete(self, future: Any) -> Any:
        """Run a coroutine in the page's loop, and return its result."""
        if self._is_closed:
            if inspect.iscoroutine(future):
                future.close()
            raise RuntimeError("Event loop is closed")
        self._running += 1
        try:
            return run(future)
        finally:
            self._running -= 1

    def run_forever(self) -> None:
        """Wait until `stop` is called, while the page's loop runs."""
        self._stopped = asyncio.Event()
        self.run_until_complete(self._stopped.wait())

    def stop(self) -> None:
        """End `run_forever`."""
        if self._stopped is not None:
            self._stopped.set()

    def is_running(self) -> bool:
        """Return whether code waits for a coroutine in it."""
        return self._running > 0

    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Refuse to run further coroutines."""
        self._is_closed = True

    async def shutdown_asyncgens(self) -> None:
        """Do nothing: the generators are also the page's."""

    async def shutdown_default_executor(self, *_: Any) -> None:
        """Do nothing: the page uses it, too."""


def _delegate(name: str) -> None:
    def method(self: PageLoop, *args: Any, **options: Any) -> Any:
        return getattr(asyncio.get_running_loop(), name)(*args, **options)

    setattr(PageLoop, name, method)


for _name in vars(asyncio.AbstractEventLoop):
    if not _name.startswith("_") and _name not in vars(PageLoop):
        _delegate(_name)
PageLoop.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]


def _set_event_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    """Do nothing: the page's loop is the current one."""


def _run_as_asyncio(main: Any, *, debug: bool | None = None, loop_factory: object = None) -> Any:
    return run(main)


def _run_until_complete(self: object, future: Any) -> Any:
    return run(future)


def _run_in_runner(self: Any, coro: Any, *, context: Context | None = None) -> Any:
    self._lazy_init()
    own: Context = context or self._context
    if not stack_switching.can_wait() or not inspect.iscoroutine(coro):
        return own.run(self._loop.run_until_complete, coro)
    return self._loop.run_until_complete(self._loop.create_task(coro, context=own))  # which keeps variables it sets


async def _awaiting(awaitable: Any) -> Any:
    return await awaitable


_nested: list[str] = []


def _answer_nest_asyncio() -> None:
    """Answer `import nest_asyncio` with a module that does nothing: a page's loop can be waited for anyway."""
    module = ModuleType("nest_asyncio", "Nothing to do in a page.")
    module.__spec__ = ModuleSpec(module.__name__, None)
    module.apply = _apply  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module


def _apply(loop: object = None) -> None:
    if not _nested:
        _nested.append("said")
        log.warning("nest_asyncio does nothing in a page: asyncio.run and run_until_complete wait in its loop anyway.")
