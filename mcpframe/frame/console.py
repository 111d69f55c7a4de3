"""Serves with the function of a console script: `main` runs as on the command line, and serves the frame.

The SDK's `stdio_server()` is given the frame's messages as lines (`compat.stdio`). What starts an event loop
(`asyncio.run`, `anyio.run`, `loop.run_until_complete`) is replaced while `main` runs, as the page has one already: with
stack switching the coroutine runs to its end inside of `main`; without, it is noted, `main` is unwound by an exception,
and the coroutine is awaited then. What `main` would do after serving is lost in that case, and its `finally` comes
early.

The module has the interface of `server`, for programs: `open_entry`, `load_entry`, `messages`, `serve`.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from asyncio import base_events
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

import anyio

from mcpframe.frame import entries, lines
from mcpframe.frame.compat import absent
from mcpframe.frame.compat.sdk import in_pyodide, major
from mcpframe.frame.compat.stdio import stdio_of
from mcpframe.frame.core.errors import EntryError, ProgramError
from mcpframe.frame.lines import LineFiles, PlainMessages

_MOST_SHOWN = 1000  # characters
_CONTAINING = {1: "mcpframe.frame.compat.mcp1", 2: "mcpframe.frame.compat.mcp2_program"}
"""What contains the failures of handlers, by the SDK's major version."""


class ConsoleScript:
    """The function of a console script, to be run for each connection.

    Attributes:
        main: the function.
    """

    def __init__(self, main: Callable[[], object]) -> None:
        self.main = main


def messages() -> PlainMessages:
    """Return how the streams of `serve` have messages."""
    return PlainMessages()


def load_entry(entry: str) -> ConsoleScript:
    """Import the function that an entry names.

    Args:
        entry: `module:function`.

    Raises:
        EntryError: There is no such module, or it has no such function. Whatever else the module raises is passed on.
    """
    _replace_loops()  # the author's modules may take them by name
    if in_pyodide():
        import_module("mcpframe.frame.browser.stack")  # with the snapshot
        import_module(_CONTAINING[major()])
        absent.answer_imports()
    main = entries.find(entry, lambda _: "the package's console script names it")
    if not callable(main):
        raise EntryError(f"The console script's {entry!r} is of type {type(main).__name__}, and no function.")
    return ConsoleScript(main)


async def open_entry(entry: str) -> ConsoleScript:
    """Import the function that an entry names. As `load_entry`."""
    return load_entry(entry)


async def serve(
    server: ConsoleScript,
    read: Any,
    write: Any,
    *,
    experimental: Mapping[str, Any] | None = None,
    on_problem: Callable[[str, BaseException | None], None] = lines.log_problem,
) -> None:
    """Run the program for one connection, until its read stream ends. As `server.serve`.

    Args:
        server: The program.
        read: The messages of the client, as `messages` has them.
        write: The messages to the client. Closed at the end.
        experimental: Experimental capabilities to tell the client of.
        on_problem: Called with a sentence, and with what the program raised.
    """
    import_module(_CONTAINING[major()]).contain()

    async def program(files: LineFiles) -> None:
        with stdio_of(files):
            await run(server.main)

    await lines.serve_lines(
        program, read, write, discovers=major() == 2, experimental=experimental, on_problem=on_problem
    )


async def run(main: Callable[[], object]) -> None:
    """Run a program's function to its end, and what it starts in an event loop.

    Args:
        main: The function.

    Raises:
        ProgramError: It ends, or exits, without having started anything. Whatever else it raises is passed on.
    """
    _replace_loops()
    loops = _Loops()
    token = _loops.set(loops)
    try:
        with _heard() as heard:
            result = main()
    except SystemExit as error:
        if not loops.has_run and loops.noted is None:
            raise ProgramError(_exited(error, heard)) from error
        result = None
    except BaseException:
        if loops.noted is None:  # else it is the unwinding, or what main makes of it
            raise
        result = None
    finally:
        _loops.reset(token)
    if loops.noted is not None:
        await loops.noted
    elif inspect.isawaitable(result):
        await result
    elif not loops.has_run:
        raise ProgramError(
            "The program returned without serving MCP on its standard input and output: it may need an argument for "
            "that (tool.mcpframe.args), or serve in another way, such as HTTP, which a page cannot."
        )


class _Unwound(BaseException):
    """Ends `main` where it would have waited for an event loop."""


class _Loops:
    """What `main` has started in event loops.

    Attributes:
        noted: The coroutine that it wanted to be run, where it cannot wait for that.
        has_run: Whether one was run.
    """

    def __init__(self) -> None:
        self.noted: Coroutine[Any, Any, Any] | None = None
        self.has_run = False

    def run(self, awaitable: Any) -> Any:
        """Run a coroutine, or note it and unwind `main`."""
        if self.noted is not None:  # main has caught the first one, or cleans up
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise _Unwound
        coroutine = awaitable if inspect.iscoroutine(awaitable) else _awaiting(awaitable)
        stack = import_module("mcpframe.frame.browser.stack") if in_pyodide() else None
        if stack is not None and stack.can_wait():
            self.has_run = True
            return stack.wait_for(coroutine)
        self.noted = coroutine
        raise _Unwound


_loops: ContextVar[_Loops | None] = ContextVar("mcpframe_loops", default=None)
"""Those of the program whose `main` is running in this context."""
_replaced: set[object] = set()


def _replace_loops() -> None:
    """Replace what starts an event loop: while `main` runs, `_Loops` does it; otherwise it is what it was."""
    eventloop: Any = import_module("anyio._core._eventloop")
    original = asyncio.run
    if original in _replaced:
        return

    def asyncio_run(main: Any, **options: Any) -> Any:
        loops = _loops.get()
        return original(main, **options) if loops is None else loops.run(main)

    anyio_original = eventloop.run

    def anyio_run(func: Any, *args: Any, **options: Any) -> Any:
        loops = _loops.get()
        return anyio_original(func, *args, **options) if loops is None else loops.run(func(*args))

    asyncio.run = asyncio.runners.run = asyncio_run
    anyio.run = eventloop.run = anyio_run  # type: ignore[assignment]
    for owner, name in (asyncio.Runner, "run"), *((kind, "run_until_complete") for kind in _loop_types()):
        setattr(owner, name, _dispatching(getattr(owner, name)))
    _replaced.add(asyncio_run)


def _dispatching(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(owner: object, awaitable: Any, **options: Any) -> Any:
        loops = _loops.get()
        return method(owner, awaitable, **options) if loops is None else loops.run(awaitable)

    return run


def _loop_types() -> list[type]:
    return list(dict.fromkeys((base_events.BaseEventLoop, type(asyncio.get_running_loop()))))


async def _awaiting(awaitable: Any) -> Any:
    return await awaitable


class _Listening:
    """A text stream that keeps the end of what is written to it. Other attributes are the original stream's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text)[-_MOST_SHOWN:]
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _heard() -> Iterator[_Listening]:
    """Keep what is written to standard error, where programs say why they exit."""
    before = sys.stderr
    listening: Any = _Listening(before)
    sys.stderr = listening
    try:
        yield listening
    finally:
        if sys.stderr is listening:
            sys.stderr = before


def _exited(error: SystemExit, heard: _Listening) -> str:
    said = heard.text.strip() or (error.code if isinstance(error.code, str) else "")
    reason = f" It said:\n{said}\n" if said else " "
    status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    return (
        f"The program {sys.argv[0]!r} exited with status {status} before it served.{reason}"
        "Its arguments are tool.mcpframe.args, its environment variables tool.mcpframe.env."
    )
