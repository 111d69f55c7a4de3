"""Explains to the author why a server does not start: the cause in its code, its place, and the remedy.

The build imports a server, and runs a console script, in Pyodide: `in_pyodide/import_server.py` returns the exceptions.
Each rule below knows one kind. Other exceptions are shown unchanged, with their place in the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mcpframe.frame.page.hints import FETCH_FAILED
from mcpframe.kit.bundle.code.code_limits import look_at
from mcpframe.kit.bundle.code.console_scripts import server_objects
from mcpframe.kit.bundle.code.stdio_choice import stdio_choice

SETTINGS = "[tool.mcpframe]"
_MOST_OBJECTS = 3
_IMPORT_FOLDER = re.compile(r"^(/mcpframe/server|.*/(site-packages|packages))/")

Frame = tuple[str, int, str]
"""A file, a line and a function's name."""


@dataclass(frozen=True)
class Raised:
    """An exception in Pyodide.

    Attributes:
        kinds: The names of its type and its base classes.
        text: Its message.
        frames: Its traceback, the innermost frame last.
    """

    kinds: tuple[str, ...]
    text: str
    frames: tuple[Frame, ...]

    def is_in(self, *files: str) -> bool:
        """Return whether a frame is in one of the files, given by the end or a folder of their paths."""
        return any(part in f"/{path}" for path, _, _ in self.frames for part in files)

    def calls(self, *functions: str) -> str:
        """Return the first of the functions among the frames, or an empty text."""
        called = [function for _, _, function in self.frames]
        return next((name for name in called if name in functions), "")


@dataclass(frozen=True)
class Code:
    """The code of the server: the author's files, or those of the package with the entry.

    Attributes:
        files: The files, by path in their import folder.
        near: The file at fault, or an empty text.
    """

    files: Mapping[str, bytes]
    near: str = ""

    def place(self, frames: Sequence[Frame]) -> str:
        """Return the innermost file and line in this code, or an empty text."""
        for path, line, _ in reversed(frames):
            name = self._name(path)
            if name:
                return f"{name}, line {line}"
        return ""

    def _name(self, path: str) -> str:
        """Return a file of this code by its path in a page: the server.py of another package is none."""
        name = _IMPORT_FOLDER.sub("", path, count=1)
        return name if name in self.files else ""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the code reads."""
        return look_at(self.files).variables

    @property
    def to_serve(self) -> str:
        """The ways to make the code serve MCP in a page, in sentences."""
        if choice := stdio_choice(self.files, self.near):
            return choice.advice
        objects = server_objects(self.files)
        module = self.near.removesuffix(".py").replace("/", ".")
        objects.sort(key=lambda name: not name.startswith(f"{module}:"))
        if objects:
            return (
                f"Name its server object in place of the program: entry = {objects[0]!r} in {SETTINGS}"
                + (f" (or {', '.join(objects[1:_MOST_OBJECTS])})" if objects[1:] else "")
                + "."
            )
        return "Nothing that selects standard input and output can be seen in its code: ask its author for that."


@dataclass(frozen=True)
class StartError:
    """The reason why a server does not start.

    Attributes:
        what: The cause in its code, as a sentence without a full stop; empty for the exception's own message.
        todo: The remedy, in sentences.
        place: The file and line in the server's code, or an empty text.
        said: The program's standard error.
    """

    what: str
    todo: str
    place: str
    said: str = ""

    def sentences(self, message: str) -> str:
        """Return the whole text.

        Args:
            message: The exception's own message, in case `what` is empty.
        """
        text = (self.what or message).rstrip().rstrip(".")
        if self.place and self.what:
            text = f"{text} ({self.place})."
        else:
            text += f". Raised in {self.place}." if self.place else "."
        if self.said:
            return f"{text} It said:\n{self.said}\n{self.todo}"
        return f"{text} {self.todo}".rstrip()


def explain(chain: Sequence[Raised], files: Mapping[str, bytes], entry: str) -> StartError:
    """Return the reason why a server does not start.

    Args:
        chain: The exception, and its causes.
        files: The server's code, by path in its import folder.
        entry: `module:object`.
    """
    place = next(filter(None, (Code(files).place(raised.frames) for raised in chain)), "")
    entered = entry.partition(":")[0].replace(".", "/")
    near = place.rpartition(", line")[0] or (
        f"{entered}/__init__.py" if f"{entered}.py" not in files else f"{entered}.py"
    )
    code = Code(files, near)
    for raised in chain:
        for rule in _RULES:
            if explained := rule(raised, code):
                return StartError(explained[0], explained[1], place, *explained[2:])
    return StartError("", _named_variable(chain, code), place)


_Found = tuple[str, str] | tuple[str, str, str] | None

_PUBLIC = (
    "What is there is public, as the bundle is: list a key in visitor_env instead, which each visitor enters "
    "in a setup; an object's own setup function keeps it in server.session.storage."
)
_ARGUMENTS = "Its arguments are tool.mcpframe.args, its environment variables tool.mcpframe.env."
_WITHOUT_INSPECTION = (
    f"If it has to, set import_server = false in {SETTINGS}: the build then does not run it, nor list its tools."
)
_REQUEST = "the answer to a request"
_WAITS = (
    (("/httpx/", "/httpx2/", "/aiohttp/", "/requests/", "/urllib3/", "/urllib/request.py"), _REQUEST),
    (("/asyncio/subprocess.py", "/subprocess.py"), "another program"),
    (("/asyncio/queues.py", "/queue.py"), "a queue"),
    (("/asyncio/locks.py", "/threading.py"), "a lock or an event"),
)
"""The files in which a program waits, and what for."""
_NO_ANSWER = ("not available while a server is built", *FETCH_FAILED, "'send' on 'XMLHttpRequest'")
"""Messages of a request in a build: that of Node.js, and those of a browser, which gives no reason."""
_SETTINGS_OF_PROGRAMS = (
    f"If an argument or a variable helps, set it: args = [...] in {SETTINGS}, or a variable in [tool.mcpframe.env]."
)


def _set(names: Sequence[str]) -> str:
    lines = ", ".join(f'{name} = "..."' for name in names)
    return f"Write {lines} in [tool.mcpframe.env], or build with --set env.NAME=VALUE. {_PUBLIC}"


def _served_over_http(raised: Raised, code: Code) -> _Found:
    function = raised.calls(
        *("run_sse_async", "run_streamable_http_async", "run_http_async", "sse_app", "streamable_http_app", "http_app")
    )
    libraries = ("/uvicorn/", "/hypercorn/", "/granian/", "/aiohttp/web", "/werkzeug/serving.py", "/waitress/")
    if not function and not raised.is_in(*libraries, "/http/server.py", "/socketserver.py"):
        return None
    how = f" ({function})" if function else ""
    return f"it serves HTTP{how}, and a page can only serve what would be standard input and output", code.to_serve


def _never_served(raised: Raised, code: Code) -> _Found:
    if "ProgramError" not in raised.kinds or "without serving MCP" not in raised.text:
        return None
    what = "its program returned without serving MCP on its standard input and output"
    threads = next((limit.place for limit in look_at(code.files).limits if limit.kind == "threads"), "")
    if threads:
        what += f"; it starts a thread ({threads}), which cannot serve: a page has one thread"
    return what, code.to_serve


def _runs_for_ever(raised: Raised, code: Code) -> _Found:
    if "ProgramError" not in raised.kinds or not raised.text.startswith("The program runs, but"):
        return None
    said = raised.text.removeprefix("The program runs, but ").rstrip(".")
    longer = "If it only takes long, raise tool.mcpframe.import_timeout."
    what = next((what for part, what in _WAITS if raised.is_in(*part)), "")
    if not what and "only sleeps" in said:
        return f"its program runs, but {said}, perhaps until a request succeeds", f"{_WITHOUT_INSPECTION} {longer}"
    if not what:
        return f"its program runs, but {said}", f"{code.to_serve} {longer}"
    advice = _WITHOUT_INSPECTION if what == _REQUEST else "Turn that off with an argument or a variable, if it can be."
    return f"its program waits for {what} before it serves: it {said}", f"{advice} {longer}"


def _stands(raised: Raised, code: Code) -> _Found:
    if "KeyboardInterrupt" not in raised.kinds:  # of the script around `import_server`, once the time is over
        return None
    place = code.place(raised.frames)
    at = f"{raised.frames[-1][0]}, line {raised.frames[-1][1]}" if raised.frames and not place else ""
    longer = "A module must not run for ever when it is imported; if it only takes long, raise "
    return (
        "starting it takes more than the time that tool.mcpframe.import_timeout gives it, and stands "
        + (f"at {at}" if at else "here"),
        f"{longer}tool.mcpframe.import_timeout. {_WITHOUT_INSPECTION}",
    )


def _asks(raised: Raised, code: Code) -> _Found:
    reads = "UnsupportedOperation" in raised.kinds and ("type into a page" in raised.text or "terminal" in raised.text)
    if not reads and not ("EOFError" in raised.kinds and "reading a line" in raised.text):
        return None
    return (
        "it reads its standard input before it serves, and nobody can type into a page",
        f"Pass what it asks for: args = [...] in {SETTINGS}, or variables in [tool.mcpframe.env].",
    )


def _variable(raised: Raised, code: Code) -> _Found:
    if "KeyError" not in raised.kinds or not raised.frames:
        return None
    path, _, function = raised.frames[-1]
    if function != "__getitem__" or not re.search(r"\bos\b", path):
        return None
    name = raised.text.strip("'\"")
    return f"it needs the environment variable {name}, which is not set: KeyError: {name!r}", _set([name])


def _settings(raised: Raised, code: Code) -> _Found:
    if not raised.is_in("/pydantic_settings/"):
        return None
    fields = re.findall(r"(?m)^(\w+)\n\s+Field required", raised.text)
    named = f" {', '.join(fields)}" if fields else ""
    return (
        f"its settings{named} are read from environment variables, which are not set",
        f"Write them in [tool.mcpframe.env], or build with --set env.NAME=VALUE. {_PUBLIC}",
    )


def _native(raised: Raised, code: Code) -> _Found:
    if "OSError" in raised.kinds and ("dynamic lib" in raised.text or raised.is_in("/ctypes/__init__.py")):
        name = re.search(r"dynamic lib: (\S+)", raised.text)
        return (
            f"it loads the native library {name[1] if name else ''}".rstrip() + " of an operating system",
            "A page has only what is compiled for Pyodide: find a package in its place that is.",
        )
    if "ImportError" not in raised.kinds:
        return None
    match = re.search(r"(?:No module named|cannot import name) '([\w.]+)'", raised.text)
    last = match[1].rpartition(".")[2] if match else ""
    compiled = [
        path for path in code.files if last and re.search(rf"(^|/){re.escape(last)}\.[^/]*(so|pyd|dylib)$", path)
    ]
    if not compiled:
        if not last.startswith("_") or "No module named" not in raised.text or last in sys.stdlib_module_names:
            return None
        return (
            f"it imports {match[1] if match else last}, which no requirement has: by its name it is a native module",
            "Ask for a version of the package that is Python alone, or has a wheel for Pyodide.",
        )
    return (
        f"it imports the native module {compiled[0]}, which is compiled for another platform than Pyodide",
        "Ask for a version of the package that is Python alone, or has a wheel for Pyodide.",
    )


def _request(raised: Raised, code: Code) -> _Found:
    if not any(sign in raised.text for sign in _NO_ANSWER):
        return None
    return (
        "it makes a request when it starts, and a build has no network",
        _WITHOUT_INSPECTION,
    )


def _socket(raised: Raised, code: Code) -> _Found:
    known = "no sockets" in raised.text or "raw socket" in raised.text
    if not known and not ("OSError" in raised.kinds and raised.is_in("/socket.py", "/ssl.py")):
        return None
    return (
        "it opens a network connection when it starts, and a page has none but HTTP requests",
        _SETTINGS_OF_PROGRAMS,
    )


def _process(raised: Raised, code: Code) -> _Found:
    if not re.search("support processes|has no processes", raised.text) and "OS process APIs" not in raised.text:
        return None
    return (
        "it runs another program when it starts, and a page has no processes",
        _SETTINGS_OF_PROGRAMS,
    )


def _thread(raised: Raised, code: Code) -> _Found:
    if "start new thread" not in raised.text:
        return None
    return "it starts a thread, and a page has one thread only", _SETTINGS_OF_PROGRAMS


def _signature(raised: Raised, code: Code) -> _Found:
    match = re.match(r"(\w+)\(\) missing \d+ required positional arguments?: (.*)", raised.text)
    if "TypeError" not in raised.kinds or not match or not raised.is_in("/mcpframe/frame/serving/console.py"):
        return None
    if not raised.frames[-1][0].endswith("mcpframe/frame/serving/console.py"):
        return None
    return f"its function {match[1]} needs {match[2]}, and a console script is called without arguments", code.to_serve


def _exit(raised: Raised, code: Code) -> _Found:
    if "SystemExit" not in raised.kinds:
        return None
    said = f", saying {raised.text.rstrip('.')!r}" if raised.text and not raised.text.isdigit() else ""
    return (
        f"it exits when it is imported{said}",
        _SETTINGS_OF_PROGRAMS,
    )


def _exited_program(raised: Raised, code: Code) -> _Found:
    if "ProgramError" not in raised.kinds or "before it served" not in raised.text:
        return None
    what, _, said = raised.text.removesuffix(_ARGUMENTS).partition(" It said:\n")
    named = _variables_in(said, code)
    is_usage = re.search(r"(?im)^usage:", said)
    todo = [
        *([f"Write its arguments as args = [...] in {SETTINGS}, or build with --set args=…."] if is_usage else []),
        *([_set(named)] if named else []),
    ] or [_SETTINGS_OF_PROGRAMS]
    return what, " ".join(todo), said.strip()


def _variables_in(text: str, code: Code) -> list[str]:
    return [name for name in code.variables if re.search(rf"\b{re.escape(name)}\b", text)]


def _named_variable(chain: Sequence[Raised], code: Code) -> str:
    names = list(dict.fromkeys(name for raised in chain for name in _variables_in(raised.text, code)))
    return _set(names) if names else ""


_RULES: tuple[Callable[[Raised, Code], _Found], ...] = (
    *(_stands, _served_over_http, _never_served, _runs_for_ever, _exited_program, _asks, _variable, _settings, _native),
    *(_request, _process, _thread, _socket, _signature, _exit),
)
