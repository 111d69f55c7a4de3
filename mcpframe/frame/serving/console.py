"""Serve with the function of a console script: `main` runs as on the command line, and serves the frame.

The SDK's `stdio_server()` gets the frame's messages as lines (`serving.stdio`). The functions that start an event loop
(`asyncio.run`, `anyio.run`, `loop.run_until_complete`) are replaced while `main` runs, as the page has a loop already.
With stack switching the coroutine runs to its end inside of `main`. Without, the coroutine is recorded, `main` is
unwound by an exception, and the coroutine is awaited then: the code of `main` after serving is not run, and its
`finally` blocks run early.

The module is a `ServerModule`.
"""

from __future__ import annotations

import getpass
import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.compat.sdk import major
from mcpframe.frame.core.errors import EntryError, ProgramError
from mcpframe.frame.serving import entries
from mcpframe.frame.serving.console_loops import Loops, current, replace_loops
from mcpframe.frame.serving.stdio import stdio_of
from mcpframe.frame.session import lines
from mcpframe.frame.session.lines import LineFiles, PlainMessages

BUNDLED_WITH = ("program",)

_MOST_SHOWN = 1000  # characters
_CONTAINING = {1: "mcpframe.frame.serving.mcp1_failures", 2: "mcpframe.frame.serving.mcp2_program"}
"""The modules that contain the failures of handlers, by the SDK's major version."""
_MOST_LOOPS = 20
"""The most event loops that a program may run before it serves."""
_NEVER_SERVED = (
    "The program returned without serving MCP on its standard input and output: it may need an argument for that "
    "(tool.mcpframe.args), or serve in another way, such as HTTP, which a page cannot."
)
_NOTHING_TO_READ = (
    "Nobody can type into a page, and MCP does not come through the program's own reads of standard input: pass what "
    "it asks for in tool.mcpframe.args or tool.mcpframe.env."
)


class ConsoleScript:
    """The function of a console script, to be run for each connection.

    Attributes:
        main: The function.
    """

    def __init__(self, main: Callable[[], object]) -> None:
        self.main = main


def messages() -> PlainMessages:
    """Return the form of the messages in the streams of `serve`."""
    return PlainMessages()


def load_entry(entry: str) -> ConsoleScript:
    """Import the function that an entry names; see `ServerModule`."""
    replace_loops()  # before the author's modules import them by name
    if in_pyodide():
        _replace_input()
        import_module("mcpframe.frame.browser.stack")  # with the snapshot
        import_module(_CONTAINING[major()])
    main = entries.find(entry, lambda _: "the package's console script names it")
    if not callable(main):
        raise EntryError(f"The console script's {entry!r} is of type {type(main).__name__}, not a function.")
    return ConsoleScript(main)


async def open_entry(entry: str) -> ConsoleScript:
    """Import the function that an entry names, for `serve` to call."""
    return load_entry(entry)


async def list_tools(server: ConsoleScript) -> None:
    """Return None: the program lists its tools only within a session."""


async def serve(
    server: ConsoleScript,
    read: Any,
    write: Any,
    *,
    experimental: Mapping[str, Any] | None = None,
    on_problem: Callable[[str, BaseException | None], None] = lines.log_problem,
) -> None:
    """Run the program for one connection until its read stream ends; see `ServerModule`."""
    import_module(_CONTAINING[major()]).contain()

    async def program(files: LineFiles) -> None:
        with stdio_of(files):
            await run(server.main, files)

    await lines.serve_lines(
        program, read, write, discovers=major() == 2, experimental=experimental, on_problem=on_problem
    )


async def run(main: Callable[[], object], files: LineFiles | None = None) -> None:
    """Run a program's function, and the coroutines that it starts in an event loop, to their end.

    Args:
        main: The function.
        files: the files that it must read; a program that exits or ends before it reads them is an error.

    Raises:
        ProgramError: if it ends, or exits, without having served. Other exceptions are passed on, with the calls that
            started its event loop as `mcpframe_places`.
    """
    replace_loops()
    loops = Loops()
    try:
        with _heard() as heard:
            for _ in range(_MOST_LOOPS):
                result = await _run(main, loops)
                if loops.noted is None or _has_served(loops, files):
                    break
                loops.again(result)
    except BaseException as error:
        if not hasattr(error, "mcpframe_places"):
            error.mcpframe_places = loops.places  # type: ignore[attr-defined]
        if isinstance(error, SystemExit) and not _has_served(loops, files):
            raise ProgramError(_exited(error, heard)) from error
        raise
    if not _has_served(loops, files):
        raise ProgramError(_NEVER_SERVED)


async def _run(main: Callable[[], object], loops: Loops) -> Any:
    """Run the function, then the coroutine that was recorded or returned, and return the coroutine's result."""
    token = current.set(loops)
    result = None
    try:
        result = main()
    except BaseException:
        if loops.noted is None:  # otherwise it is the unwinding, or an exception that replaced it
            raise
    finally:
        current.reset(token)
    if loops.noted is not None:
        loops.is_serving = True
        return await loops.noted
    if inspect.isawaitable(result):
        loops.has_run = True
        await result
    return None


def _has_served(loops: Loops, files: LineFiles | None) -> bool:
    return files.stdin.is_read if files else loops.has_run or loops.noted is not None


class _Listening:
    """A text stream that also keeps the end of its output. Other attributes are the original stream's."""

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
    """Keep the end of standard error, where programs write why they exit."""
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


class _NoBytes(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> NoReturn:
        raise io.UnsupportedOperation(_NOTHING_TO_READ)

    def fileno(self) -> int:
        """Return the number of a pipe: programs look at it to see whether a client or a terminal is connected."""
        return _silent_pipe()[0]


@cache
def _silent_pipe() -> tuple[int, int]:
    return os.pipe()


class _ProgramInput(io.TextIOWrapper):
    """A text file that cannot be read."""

    def __init__(self) -> None:
        super().__init__(io.BufferedReader(_NoBytes()), encoding="utf-8")

    def close(self) -> None:
        """Do nothing: a program may close it, and another connection starts that program again."""


def _replace_input() -> None:
    """Replace standard input: a page has no terminal to type into.

    The calls that programs make before they serve work: `reconfigure`, `isatty`, `fileno`, `buffer`. Reading raises an
    error with advice, and so does `getpass`, which would open the terminal itself.
    """
    sys.stdin = _ProgramInput()
    getpass.getpass = _no_password


def _no_password(*_: object, **__: object) -> NoReturn:
    raise io.UnsupportedOperation(_NOTHING_TO_READ)
