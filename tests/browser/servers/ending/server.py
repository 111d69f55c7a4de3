"""A server whose tools end Python, or never return."""

import asyncio
import ctypes
import os
import posix  # what `os` has of it raises SystemExit in a page
import sys

import anyio
import js
from mcp.server.mcpserver import Context
from pyodide.ffi import create_proxy

from mcpframe import FrameServer, Tasks

server = FrameServer("ending", allowed_origins=["http://host.localhost:1"], extensions=[Tasks(after=0.1)])


@server.setup(visible=False)
async def setup(session):
    """End in the middle of it."""
    posix._exit(4)


@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
async def wait(context: Context) -> str:
    """Wait until Python ends, or the call is cancelled."""
    for second in range(10_000):
        await context.report_progress(second, message=f"{second} seconds")
        await asyncio.sleep(1)
    return "it waited"


@server.tool()
def end(how: str) -> str:
    """End Python."""
    match how:
        case "exit":
            posix._exit(3)
        case "abort":
            posix.abort()
        case "read":
            return str(ctypes.string_at(0xFFFFFFF0, 64))
        case "stack":
            deep: list[object] = []
            for _ in range(200_000):
                deep = [deep]
            return repr(deep)
        case "callback":
            js.Array.of(1).map(create_proxy(lambda *_: posix.abort()))
        case "memory":
            sys.setrecursionlimit(10**9)
            return str(_recursed(0))
    return "it lives"


@server.tool()
async def leave(how: str) -> str:
    """Do what ends a program elsewhere."""
    match how:
        case "sys.exit":
            sys.exit(3)
        case "os._exit":
            os._exit(3)
        case "os.abort":
            os.abort()
        case "task":
            await asyncio.create_task(_leave())
        case "breakpoint":
            breakpoint()
        case "input":
            input("Name? ")  # noqa: ASYNC250  which is the point
        case "recursion":
            sys.setrecursionlimit(10**9)
            return str(_recursed(0))
    return "it lives"


async def _leave() -> None:
    raise KeyboardInterrupt


@server.tool()
async def spin(context: Context) -> str:
    """Report that it has begun, and compute for ever."""
    await context.report_progress(0)
    with anyio.CancelScope(shield=True):
        await asyncio.sleep(0.1)  # what is reported leaves the page only while it does not compute
    js.console.info("spinning")
    while True:
        pass


def _recursed(depth: int) -> int:
    return _recursed(depth + 1) + 1
