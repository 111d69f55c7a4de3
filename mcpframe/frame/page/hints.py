"""Hints for errors that occur only in a page: notes to exceptions whose message has no advice.

Python in a page has the standard library's names, but no processes, threads, sockets, environment, terminal, or files
other than the bundle's, and the page's policy limits its requests. Each rule below recognises one such error, by its
type and origin, and returns a sentence. The module is imported after an error: a page without errors never loads it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.compat.process import NO_PROCESSES

SERVER_FOLDER = "/mcpframe/server"
"""The folder of the author's files in a page, `assets` included."""

SETTINGS = "[tool.mcpframe] of pyproject.toml"
_REQUIREMENTS = f"project.dependencies in pyproject.toml or requirements in {SETTINGS}"

JUST_NOW = 2.0
"""The default age in seconds up to which a blocked request is taken as the cause of an error."""

_CLOCK = 0.005
"""Seconds by which the browser's clock may lag behind Python's: browsers round the time."""

_TURNS = 10
"""Turns of 10 ms that a browser gets, after a failed request, to report that the policy has blocked it."""


class PageRequests(Protocol):
    """The page's failed requests."""

    def blocked(self, seconds: float) -> list[str]:
        """Return the addresses that the page's policy has blocked within the last `seconds`."""
        ...

    def origin(self) -> str:
        """Return the page's own origin, as servers see it."""
        ...


async def explain(error: BaseException, seconds: float = JUST_NOW, browser: PageRequests | None = None) -> None:
    """Add a note with advice to an error, unless its message has it.

    Args:
        error: the error; of a group, each of its errors.
        seconds: the run time of the code that raised it: requests blocked earlier are not its own.
        browser: the page's failed requests; by default those of this page, or none outside of a page.
    """
    browser = browser or _this_page()
    began = time.monotonic() - seconds - _CLOCK
    if browser and any(map(_is_failed_request, _chain(error))):
        for _ in range(_TURNS):  # the browser reports a violation in a task of its own
            if browser.blocked(time.monotonic() - began):
                break
            await asyncio.sleep(0.01)
    explain_now(error, time.monotonic() - began, browser)


def explain_now(error: BaseException, seconds: float = JUST_NOW, browser: PageRequests | None = None) -> None:
    """Like `explain`, for code that cannot wait."""
    browser = browser or _this_page()
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            explain_now(each, seconds, browser)
        return
    note = hint(error, seconds, browser)
    if note and note.partition(":")[0] not in _said(error) and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def hint(error: BaseException, seconds: float, browser: PageRequests | None) -> str | None:
    """Return advice about an error to its author, in sentences; None if there is nothing to add to its message."""
    if (renamed := _renamed(error)) or browser is None:
        return renamed
    for each in _causes(error):
        for rule in _RULES:
            if text := rule(each):
                return text
    requests = [each for each in _chain(error) if _is_failed_request(each)]
    if requests:
        return _request(requests[-1], browser.blocked(seconds), browser.origin())
    return _NO_SOCKETS if any(map(_is_socket, _chain(error))) else None


def missing_module(name: str) -> str:
    """Return advice about the missing module of this name."""
    if name == _FASTMCP or name.startswith(f"{_FASTMCP}."):
        return _RENAMED
    package = name.partition(".")[0]
    if reason := _ABSENT.get(package):
        return reason
    if package in sys.stdlib_module_names:  # a stranger's package may have the same name
        instead = _INSTEAD.get(package, "do without it, or keep that part to a server that the page fetches from")
        return f"{package!r} is a part of Python that a page does not have, and no package has it: {instead}."
    if _is_lazy(package):
        return f"It is a lazy requirement: write `await mcpframe.load({package!r})` before importing it."
    return (
        f"Add it to the server's requirements, {_REQUIREMENTS}, and build again; "
        "a Python file of your own has to be in the project's folder."
    )


# --- kinds of errors


_FASTMCP = "mcp.server.fastmcp"
_RENAMED = (
    "mcp 2.x has renamed FastMCP to MCPServer: require 'mcp<2' to serve it as it is, or write "
    "`from mcp.server.mcpserver import MCPServer`, or `from mcpframe import FrameServer` for a page's setup and "
    "storage, too. Context and Image are in mcp.server.mcpserver."
)
_NO_THREADS = (
    "A page has one thread: write an async def tool and await, or use asyncio.to_thread or anyio.to_thread.run_sync, "
    "which run the function in place."
)
_NO_TERMINAL = "A page has no terminal: use what is there without one."
_NO_WINDOWS = "Python in a page has no windows of its own: draw with session.page, from a @server.ui function."
_NO_SOCKETS = (
    "A page has no sockets: use `await pyodide.http.pyfetch(url)`, or httpx, requests, urllib3, urllib.request or "
    f"aiohttp, which fetch in a page; and list the server's origin in csp.connect_src in {SETTINGS}."
)
_ABSENT = {
    "mcp_types": "It is part of mcp 2.x, as is all that uses it, such as FrameServer; this bundle has mcp 1.x, as its "
    "requirements or its code ask for it: use mcpframe.wrap, or require 'mcp>=2'.",
    "_multiprocessing": NO_PROCESSES,
    "_posixshmem": NO_PROCESSES,
    "_posixsubprocess": NO_PROCESSES,
    "curses": _NO_TERMINAL,
    "_curses": _NO_TERMINAL,
    "fcntl": _NO_TERMINAL,
    "readline": _NO_TERMINAL,
    "termios": _NO_TERMINAL,
    "_tkinter": _NO_WINDOWS,
    "tkinter": _NO_WINDOWS,
    "turtle": _NO_WINDOWS,
}
_WINDOWS = "it is of Windows alone"
_ACCOUNTS = "a page has no accounts of a system, and its user is `getpass.getuser()`"
_BUILD_ADDS = "packages are in the bundle: list them in project.dependencies"
_INSTEAD = {
    "dbm": "use sqlite3, also in place of shelve, or server.session.storage for what has to outlast the page",
    "ensurepip": _BUILD_ADDS,
    "grp": _ACCOUNTS,
    "pwd": _ACCOUNTS,
    "syslog": "use logging",
    "venv": _BUILD_ADDS,
    **dict.fromkeys(("msvcrt", "nt", "winreg", "winsound", "_winapi"), _WINDOWS),
}
"""Advice in place of missing modules of the standard library."""
NO_OPENSSL = (
    "Python in a page has no OpenSSL, and of hashlib only what needs none: add 'cryptography' to the server's "
    "requirements, which has scrypt (cryptography.hazmat.primitives.kdf.scrypt) and further hashes."
)
FETCH_FAILED = ("Failed to fetch", "NetworkError", "Load failed", "A network error occurred")
"""Browsers' messages for a request without an answer: Chromium, Firefox and XMLHttpRequest, WebKit."""


def _renamed(error: BaseException) -> str | None:
    if not isinstance(error, ImportError):
        return None
    name = error.name or ""
    old = name == _FASTMCP or name.startswith(f"{_FASTMCP}.") or (name == "mcp.server" and "FastMCP" in _said(error))
    return _RENAMED if old else None


def _missing_file(error: BaseException) -> str | None:
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str | bytes) and error.filename:
        path = os.fsdecode(error.filename)
    elif type(error).__name__ == "OperationalError" and "unable to open database file" in _said(error):
        return (
            "The folder of a database file has to be there: make it with os.makedirs, or use ':memory:'. A database "
            f"that comes with the server is listed in assets in {SETTINGS}. Written files are lost with the page."
        )
    else:
        return None
    whole = posixpath.normpath(posixpath.join(Path.cwd(), path))
    relative = posixpath.relpath(whole, SERVER_FOLDER)
    if relative.startswith(".."):
        return (
            "Python in a page sees no files of the computer it runs on: let the user choose one, "
            "`await element.files()`, or carry it in the bundle: put it into the project's folder, and list it in "
            f"assets in {SETTINGS}."
        )
    return (
        f"To read it, add {relative!r} to assets in {SETTINGS} and build again: a bundle carries Python files and what "
        "is listed. To write it, make its folder first, with os.makedirs; what is written is gone with the page."
    )


def _environment(error: BaseException) -> str | None:
    if not isinstance(error, KeyError) or _raised_in(error) != ("os", "__getitem__"):
        return None
    return (
        f"The environment variable {error.args[0]!r} is not set: a page has no environment, and whatever is in a "
        "bundle is public. What only the user knows is asked for in a @server.setup function and kept in "
        "server.session.storage; what is not a secret is written into the code, or into a file listed in assets."
    )


def _module(error: BaseException) -> str | None:
    if not isinstance(error, ModuleNotFoundError):
        return None
    if type(error).__name__ == "PackageNotFoundError":
        return "A bundle carries no metadata of the project itself: write its version into the code."
    return missing_module(error.name) if error.name else None


def _time_zone(error: BaseException) -> str | None:
    if type(error).__name__ != "ZoneInfoNotFoundError":
        return None
    return (
        f"A page has no time zones of its own: add 'tzdata' to the server's requirements, {_REQUIREMENTS}, "
        "and build again."
    )


def _processes(error: BaseException) -> str | None:
    absent = isinstance(error, OSError) and (
        "support processes" in _said(error)
        or error.errno == errno.ENOSYS
        or (error.errno == errno.ENOEXEC and _raised_in(error)[0] == "os")
    )
    return NO_PROCESSES if absent or "OS process APIs" in _text(error, NotImplementedError) else None


def _hashes(error: BaseException) -> str | None:
    lacks = isinstance(error, AttributeError | ImportError) and "'hashlib'" in _said(error) and "scrypt" in _said(error)
    return NO_OPENSSL if lacks or "unsupported hash type" in _text(error, ValueError) else None


def _threads(error: BaseException) -> str | None:
    return _NO_THREADS if "can't start new thread" in _text(error, RuntimeError) else None


def _event_loop(error: BaseException) -> str | None:
    text = _text(error, RuntimeError)
    if "Already running asyncio" not in text and "running event loop" not in text:
        return None
    return (
        "The page's event loop is running already: write an async def function and await in it. A server is not run: "
        "leave out server.run(), or keep it under `if __name__ == '__main__':`; mcpframe serves it."
    )


def _input(error: BaseException) -> str | None:
    if not isinstance(error, EOFError):
        return None
    if "reading a line" not in _said(error) and _raised_in(error)[0] != "getpass":
        return None
    return (
        "A page has no keyboard input: make it an argument of the tool, ask by elicitation (`await ctx.elicit(...)`), "
        "or in a @server.setup function."
    )


def _nesting(error: BaseException) -> str | None:
    if "Maximum serialization depth" not in _said(error):
        return None
    return (
        "A result has at most 48 levels of lists and objects in a page, as pydantic makes JSON of no more in "
        "WebAssembly: return a flatter one, or its JSON as a text."
    )


def _signals(error: BaseException) -> str | None:
    if not isinstance(error, AttributeError) or "module 'signal' has no attribute" not in _said(error):
        return None
    return "A page has no signals: for a time limit use asyncio.timeout or anyio.fail_after in an async def function."


_RULES: tuple[Callable[[BaseException], str | None], ...] = (
    *(_missing_file, _environment, _time_zone, _module, _hashes, _processes, _threads, _event_loop, _input),
    *(_nesting, _signals),
)


def _is_failed_request(error: BaseException) -> bool:
    """Return whether the browser got no answer; it deliberately gives no reason."""
    name = type(error).__name__
    if not (name in ("JsException", "AbortError", "_RequestError") or isinstance(error, OSError)):
        return False
    text = _said(error)
    return any(part in text for part in FETCH_FAILED) or "'send' on 'XMLHttpRequest'" in text


def _is_socket(error: BaseException) -> bool:
    if "TLS not supported" in _text(error, RuntimeError) or "raw socket" in _text(error, NotImplementedError):
        return True
    return isinstance(error, ConnectionError) or type(error).__name__ in ("SMTPServerDisconnected", "gaierror")


def _request(error: BaseException, blocked: list[str], own_origin: str) -> str:
    named = "://" in _said(error)  # some of these messages have the address
    origins = sorted({_origin(url) for url in blocked if url.startswith("http") and (not named or url in _said(error))})
    if origins:
        listed = ", ".join(f'"{origin}"' for origin in origins)
        return (
            f"The page's policy has blocked {' and '.join(origins)}: list it as csp.connect_src in {SETTINGS}, "
            f"`csp = {{ connect_src = [{listed}] }}`, and build again."
        )
    return (
        "The page's policy allows the address, but no answer came: there is no such server, or it does not allow pages "
        f"of {own_origin} (CORS: its answer needs the header Access-Control-Allow-Origin; to servers that do not send "
        "it, `mcpframe proxy` forwards the requests of HTTP libraries such as httpx)."
    )


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


# --- the origin of an error


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001  an author's `__str__` may raise anything
        return ""


def _text(error: BaseException, kind: type[BaseException]) -> str:
    return _said(error) if isinstance(error, kind) else ""


def _raised_in(error: BaseException) -> tuple[str, str]:
    """Return the module and the function that raised an error."""
    at: TracebackType | None = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    if at is None:
        return "", ""
    return str(at.tb_frame.f_globals.get("__name__", "")), at.tb_frame.f_code.co_name


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised `from`."""
    for _ in range(10):
        yield error
        if error.__cause__ is None:
            return
        error = error.__cause__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that led to it: libraries wrap errors of the browser or a socket, even repeatedly."""
    todo = [error]
    for _ in range(50):
        if not todo:
            return
        error = todo.pop()
        yield error
        if isinstance(error, BaseExceptionGroup):
            todo.extend(error.exceptions)
        todo.extend(each for each in (error.__cause__, error.__context__) if each is not None)


def _is_lazy(package: str) -> bool:
    from mcpframe.frame.page import load

    return load.is_lazy(package)


def _this_page() -> PageRequests | None:
    if not in_pyodide():
        return None
    from mcpframe.frame.browser import window

    return window.BrowserRequests()
