"""A program that ends its process or waits for a terminal, where it has neither. In Pyodide this is the real thing."""

from __future__ import annotations

import io
import os
import pdb
import signal
import sys
from collections.abc import Iterator

import pytest

from mcpframe import FrameServer
from mcpframe.frame.compat.process import outlive_exits
from tests.support.memory import connected, text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Pyodide has the signals of POSIX")


@pytest.fixture(autouse=True)
def _outliving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module, name in (
        *((os, name) for name in ("_exit", "abort", "kill", "system")),
        *((sys, name) for name in ("breakpointhook", "setrecursionlimit", "stdin")),
        (signal, "raise_signal"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))
    outlive_exits()
    outlive_exits()
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)  # tests of the command line may have left a handler
    yield
    signal.signal(signal.SIGTERM, before)


ENDS = {
    "os._exit": (lambda: os._exit(3), "SystemExit: 3"),
    "os.abort": (lambda: os.abort(), "SystemExit: os.abort() was called"),
    "SIGKILL": (lambda: os.kill(os.getpid(), 9), "SystemExit: SIGKILL was raised"),
    "SIGTERM": (lambda: signal.raise_signal(signal.SIGTERM), "SystemExit: SIGTERM was raised"),
    "SIGABRT": (lambda: os.kill(0, signal.SIGABRT), "SystemExit: SIGABRT was raised"),
    "another process": (lambda: os.kill(os.getpid() + 1, 9), "a page has only its own"),
    "os.system": (lambda: os.system("ls"), "A page has no processes: call a Python library"),
    "breakpoint": (lambda: breakpoint(), "A page has no terminal for a debugger: print what"),
    "pdb": (lambda: pdb.Pdb(nosigint=True).run("1"), "A page has no terminal: take what the server needs"),
    "input": (lambda: input("Name? "), "A page has no terminal: take what the server needs"),
    "stdin": (lambda: sys.stdin.read(), "A page has no terminal: take what the server needs"),
    "lines of stdin": (lambda: list(sys.stdin), "A page has no terminal: take what the server needs"),
}


@pytest.mark.parametrize(("end", "told"), ENDS.values(), ids=ENDS)
async def test_a_tool_that_ends_the_process_or_waits_for_a_terminal_is_an_error_result(end, told):
    server = FrameServer("s")

    @server.tool()
    async def call() -> str:
        end()
        return "after it"

    async with connected(server, "2026") as client:
        for _ in range(2):
            result = await client.call_tool("call")
            assert result.is_error
            assert told in text(result)


async def test_a_recursion_that_never_ends_is_an_error_result_whatever_the_limit():
    server = FrameServer("s")
    before = sys.getrecursionlimit()

    def deeper(level: int) -> int:
        return deeper(level + 1) + 1

    @server.tool()
    async def recurse() -> int:
        sys.setrecursionlimit(10**9)
        return deeper(0)

    try:
        async with connected(server, "2026") as client:
            for _ in range(2):
                assert "maximum recursion depth exceeded" in text(await client.call_tool("recurse"))
        with pytest.raises(ValueError, match="greater"):
            sys.setrecursionlimit(0)
    finally:
        sys.setrecursionlimit(before)


def test_signals_that_end_nothing_or_are_handled_are_as_they_were():
    os.kill(os.getpid(), 0)
    signal.raise_signal(signal.SIGCHLD)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_reading_standard_input_is_an_os_error_as_libraries_expect():
    assert issubclass(io.UnsupportedOperation, OSError)
    with pytest.raises(io.UnsupportedOperation):
        sys.stdin.readline()
