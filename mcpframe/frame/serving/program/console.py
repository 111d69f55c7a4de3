"""Serves with the function of a console script: `main` runs as on the command line, and serves the frame.

The SDK's `stdio_server()` is given the frame's messages as lines (`compat.stdio`). What starts an event loop
(`asyncio.run`, `anyio.run`, `loop.run_until_complete`) is replaced while `main` runs, as the page has one already: with
stack switching the coroutine runs to its end inside of `main`; without, it is noted, `main` is unwound by an exception,
and the coroutine is awaited then. What `main` would do after serving is lost in that case, and its `finally` comes
early.

The module is a `ServerModule`.
"""

from __future__ import annotations

import getpass
import inspect
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from mcpframe.frame.compat import absent
from mcpframe.frame.compat.sdk import in_pyodide, major
from mcpframe.frame.core.errors import EntryError, ProgramError
from mcpframe.frame.serving import entries
from mcpframe.frame.serving.program.loops import Loops, current, replace_loops
from mcpframe.frame.serving.stdio import stdio_of
from mcpframe.frame.session import lines
from mcpframe.frame.session.lines import LineFiles, PlainMessages

BUNDLED_WITH = ("program",)

_MOST_SHOWN = 1000  # characters
_CONTAINING = {1: "mcpframe.frame.serving.mcp1", 2: "mcpframe.frame.serving.mcp2_program"}
"""The modules that contain the failures of handlers, by the SDK's major version."""
_MOST_LOOPS = 20
"""How many event loops a program may run before it serves."""
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
    replace_loops()  # the author's modules may take them by name
    if in_pyodide():
        _replace_input()
        import_module("mcpframe.frame.browser.stack")  # with the snapshot
        import_module(_CONTAINING[major()])
        absent.answer_imports()
    main = entries.find(entry, lambda _: "the package's console script names it")
    if not callable(main):
        raise EntryError(f"The console script's {entry!r} is of type {type(main).__name__}, and no function.")
    return ConsoleScript(main)


async def open_entry(entry: str) -> ConsoleScript:
    """Import the function that an entry names; it is called by `serve`."""
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
    """Run a program's function to its end, and what it starts in an event loop.

    Args:
        main: The function.
        files: What it serves, if that is to be noticed: a program that exits or ends before it reads them is an error.

    Raises:
        ProgramError: It ends, or exits, without having served. Whatever else it raises is passed on, with the calls
            that started its event loop as `mcpframe_places`.
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
    """Run the function, then the coroutine that it has noted or returned, and return the result of that."""
    token = current.set(loops)
    result = None
    try:
        result = main()
    except BaseException:
        if loops.noted is None:  # else it is the unwinding, or what main makes of it
            raise
    finally:
        current.reset(token)
    if loops.noted is not None:
        return await loops.noted
    if inspect.isawaitable(result):
        loops.has_run = True
        await result
    return None


def _has_served(loops: Loops, files: LineFiles | None) -> bool:
    return files.stdin.is_read if files else loops.has_run or loops.noted is not None


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


class _NoBytes(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> NoReturn:
        raise io.UnsupportedOperation(_NOTHING_TO_READ)


class _ProgramInput(io.TextIOWrapper):
    """A text file that has nothing to read."""

    def __init__(self) -> None:
        super().__init__(io.BufferedReader(_NoBytes()), encoding="utf-8")

    def close(self) -> None:
        """Stay open: a program may close it, and another connection starts that program again."""


def _replace_input() -> None:
    """Replace standard input, which has only MCP: nobody can type into a page.

    What programs do to it before they serve works: `reconfigure`, `isatty`, `buffer`. Reading raises an error that says
    what to do, and so does `getpass`, which would open the terminal itself.
    """
    sys.stdin = _ProgramInput()
    getpass.getpass = _no_password


def _no_password(*_: object, **__: object) -> NoReturn:
    raise io.UnsupportedOperation(_NOTHING_TO_READ)
