"""Advice to the author on errors that only a page has, each raised as it is there."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

import anyio
import pytest

from mcpframe.frame.compat import process
from mcpframe.frame.page import hints, load
from mcpframe.frame.world import unavailable
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH


class FakeRequests:
    """`hints.PageRequests`: addresses that are blocked, each told of after so many questions."""

    def __init__(self, *blocked: str, after: int = 0) -> None:
        self._blocked = list(blocked)
        self._after = after
        self._least = 0.0

    def blocked(self, seconds: float) -> list[str]:
        assert seconds > self._least
        self._least = seconds  # what was blocked in the beginning is in it to the end
        self._after -= 1
        return self._blocked if self._after < 0 else []

    def origin(self) -> str:
        return "https://bundle.example"


class JsException(Exception):
    """As Pyodide's: its name and text are what browsers say."""


def raised(act: Callable[[], Any]) -> BaseException:
    try:
        act()
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("nothing was raised")


def told(act: Callable[[], Any], *blocked: str) -> str:
    return hints.hint(raised(act), hints.JUST_NOW, FakeRequests(*blocked)) or ""


def throw(error: BaseException) -> None:
    raise error


def test_the_folder_of_the_authors_files_is_the_one_the_build_puts_them_in() -> None:
    assert hints.SERVER_FOLDER == SERVER_PATH


def _open(path: str) -> object:
    return open(path)  # noqa: PTH123  as authors do


@pytest.mark.parametrize("path", ["data/terms.json", "./data/terms.json", f"{SERVER_PATH}/data/terms.json"])
@pytest.mark.parametrize("read", [_open, lambda path: Path(path).read_text()], ids=["open", "Path"])
def test_a_file_that_is_not_listed(monkeypatch: pytest.MonkeyPatch, path: str, read: Callable[[str], object]) -> None:
    monkeypatch.setattr(Path, "cwd", lambda: Path(SERVER_PATH))
    text = told(lambda: read(path))
    assert "'data/terms.json' to assets in [tool.mcpframe]" in text
    assert "build again" in text


def test_a_file_of_the_computer() -> None:
    text = told(lambda: Path("/nowhere/of/the/user.csv").read_text())
    assert "let the user choose one" in text


def test_a_database_in_a_folder_that_is_not_there() -> None:
    assert "os.makedirs" in told(lambda: sqlite3.connect("/nowhere/x.db").execute("select 1"))


def test_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_KEY", raising=False)
    text = told(lambda: os.environ["API_KEY"])
    assert "'API_KEY' is not set" in text
    assert "server.session.storage" in text
    assert told(lambda: {}["API_KEY"]) == ""


@pytest.mark.parametrize(
    "statement",
    ["from mcp.server.fastmcp import FastMCP", "import mcp.server.fastmcp.prompts", "from mcp.server import FastMCP"],
)
def test_the_old_name_of_the_sdks_server(statement: str) -> None:
    error = raised(lambda: exec(statement))
    for browser in (FakeRequests(), None):  # wherever it is raised
        text = hints.hint(error, hints.JUST_NOW, browser) or ""
        assert "from mcp.server.mcpserver import MCPServer" in text
        assert "FrameServer" in text


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("dbm", "sqlite3"),
        ("dbm.gnu", "sqlite3"),
        ("pwd", "getuser"),
        ("grp", "getuser"),
        ("syslog", "logging"),
        ("venv", "bundle"),
        ("ensurepip", "bundle"),
        ("winreg", "Windows"),
        ("_gdbm", "do without it"),
        ("idlelib", "do without it"),
    ],
)
def test_a_missing_part_of_python_is_no_package_of_a_stranger(name: str, instead: str) -> None:
    text = told(lambda: throw(ModuleNotFoundError(f"No module named {name!r}", name=name)))
    assert instead in text
    assert "no package has it" in text
    assert "requirements" not in text


def test_what_hashlib_has_of_openssl_alone() -> None:
    for error in (
        AttributeError("module 'hashlib' has no attribute 'scrypt'"),
        ImportError("cannot import name 'scrypt' from 'hashlib' (/lib/python314.zip/hashlib.py)", name="hashlib"),
        ValueError("unsupported hash type md4"),
    ):
        assert "'cryptography'" in told(lambda error=error: throw(error))
    assert told(lambda: throw(AttributeError("module 'hashlib' has no attribute 'sha'"))) == ""


def test_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "project.dependencies" in told(lambda: __import__("not_there"))
    assert "requirements" in told(lambda: throw(ModuleNotFoundError("No module named 'fastmcp'", name="fastmcp")))
    assert "mcp>=2" in told(lambda: throw(ModuleNotFoundError("No module named 'mcp_types'", name="mcp_types")))
    for name in ("_multiprocessing", "tkinter", "termios"):
        text = told(lambda name=name: throw(ModuleNotFoundError(f"No module named {name!r}", name=name)))
        assert "page" in text
        assert "requirements" not in text
    monkeypatch.setattr(load, "_bundle", None)
    load.configure({"not-there": []})
    assert "await mcpframe.load('not_there')" in told(lambda: __import__("not_there"))
    assert "write its version into the code" in told(lambda: version("no-such-project"))
    zones = told(lambda: throw(ZoneInfoNotFoundError("No time zone found with key Europe/Berlin")))
    assert "'tzdata'" in zones
    assert "project.dependencies" in zones


async def test_an_event_loop_that_runs_already() -> None:
    async def nothing() -> None: ...

    made = nothing()
    for act in (lambda: asyncio.run(made), lambda: anyio.run(nothing)):
        assert "leave out server.run()" in told(act)
    made.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOTSUP, "emscripten does not support processes."), "no processes"),
        (OSError(errno.ENOSYS, "Function not implemented"), "no processes"),
        (
            NotImplementedError("subprocess_exec() is not available … due to absence of OS process APIs."),
            "no processes",
        ),
        (RuntimeError("can't start new thread"), "one thread"),
        (EOFError("EOF when reading a line"), "elicit"),
        (AttributeError("module 'signal' has no attribute 'alarm'"), "asyncio.timeout"),
        (ValueError("Maximum serialization depth exceeded"), "at most 48 levels"),
        (RuntimeError("TLS not supported in this environment"), "pyodide.http.pyfetch"),
        (
            NotImplementedError("sock_connect() is not available … due to restricted raw socket access."),
            "csp.connect_src",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_page_does_not_have(error: Exception, words: str) -> None:
    assert words in told(lambda: throw(error))
    assert hints.hint(error, hints.JUST_NOW, None) is None  # plain CPython has these


async def test_advice_that_the_error_has_is_not_repeated() -> None:
    for act in (lambda: process._no_shell("ls"), unavailable._raising(errno.ENOSYS, process.NO_PROCESSES)):
        error = raised(act)
        await hints.explain(error, browser=FakeRequests())
        assert not hasattr(error, "__notes__")
        assert "no processes" in str(error)


FAILED = {
    "js.fetch in Chromium": JsException("TypeError: Failed to fetch"),
    "js.fetch in Firefox": JsException("TypeError: NetworkError when attempting to fetch resource."),
    "js.fetch in Safari": JsException("TypeError: Load failed"),
    "pyfetch": type("AbortError", (OSError,), {})("Failed to fetch"),
    "open_url": JsException("NetworkError: 'send' on 'XMLHttpRequest': Failed to load 'https://api.example/z'."),
}


@pytest.mark.parametrize("error", FAILED.values(), ids=FAILED)
@pytest.mark.parametrize("after", [0, 3])
async def test_a_request_that_the_policy_blocks(error: Exception, after: int) -> None:
    await hints.explain(error, browser=FakeRequests("https://api.example/x?y", "https://api.example/z", after=after))
    note = error.__notes__.pop()
    assert "blocked https://api.example: list it" in note
    assert 'connect_src = ["https://api.example"]' in note


async def test_a_request_that_fails_otherwise() -> None:
    error = JsException("TypeError: Failed to fetch")
    await hints.explain(error, browser=FakeRequests())
    (note,) = error.__notes__
    assert "CORS" in note
    assert "mcpframe proxy" in note
    assert "https://bundle.example" in note
    assert "connect_src" not in note


async def test_a_request_is_told_from_another_that_was_blocked_where_its_error_has_its_address() -> None:
    for url, words in (("https://one.example/x", "connect_src"), ("https://two.example/x", "CORS")):
        error = JsException(f"NetworkError: Failed to execute 'send' on 'XMLHttpRequest': Failed to load '{url}'.")
        await hints.explain(error, browser=FakeRequests("https://one.example/x"))
        assert words in error.__notes__[0]


async def test_a_library_around_the_browsers_error() -> None:
    def request() -> None:
        try:
            throw(FAILED["js.fetch in Chromium"])
        except JsException:
            raise ConnectionError("('Connection aborted.', HTTPException('gone'))")  # noqa: B904  as requests does

    error = raised(request)
    await hints.explain(error, browser=FakeRequests("https://api.example/"))
    assert "connect_src" in error.__notes__[0]


async def test_a_note_is_added_once_and_to_each_error_of_a_group() -> None:
    group = ExceptionGroup("several", [ModuleNotFoundError("No module named 'x'", name="x"), ValueError("wrong")])
    for _ in range(2):
        await hints.explain(group, browser=FakeRequests())
    assert [len(getattr(error, "__notes__", ())) for error in group.exceptions] == [1, 0]


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), OSError(5, "x"), RuntimeError("x"), EOFError(), ConnectionResetError("x")]
)
def test_other_errors_speak_for_themselves(error: Exception) -> None:
    found = hints.hint(error, hints.JUST_NOW, FakeRequests("https://api.example/"))
    assert found is None or isinstance(error, ConnectionError)


def test_an_error_that_was_handled_on_the_way_says_nothing() -> None:
    def compute() -> None:
        try:
            Path("/nowhere/cache").read_bytes()
        except FileNotFoundError:
            throw(ZeroDivisionError())

    assert told(compute) == ""


async def test_an_error_that_cannot_say_what_it_is() -> None:
    class Mute(OSError):
        def __str__(self) -> str:
            raise SystemExit

    await hints.explain(Mute(), browser=FakeRequests())


def test_nothing_loads_this_module_before_something_fails() -> None:
    budget = Path(__file__).parents[3] / "in_pyodide" / "import_budget.txt"
    assert hints.__name__ not in budget.read_text().split()


@pytest.mark.skipif(sys.platform == "emscripten", reason="about CPython")
async def test_outside_of_a_page_errors_are_as_they_are() -> None:
    error = raised(Path("/nowhere/x").read_bytes)
    await hints.explain(error)
    assert not hasattr(error, "__notes__")
