"""The server of the contract of `tests/plain_python/contract.py`, in a page and in plain Python."""

import asyncio
import subprocess
import sys

from mcp.server.mcpserver import Context
from pydantic import BaseModel

from mcpframe import FrameServer, Kept, Tasks, kept

server = FrameServer("both-ways", title="Both ways", extensions=[Tasks(after=0.05)])
calls = 0


class Age(BaseModel):
    """What is asked."""

    age: int


@server.tool()
async def keeps() -> int:
    """Count one further, in the session's storage."""
    return await server.session.storage.update("n", lambda n: n + 1, 0)


@server.tool()
async def binary() -> bool:
    """Store bytes, and read them."""
    await server.session.storage.set("binary", b"\0\xff")
    return await server.session.storage.get("binary") == b"\0\xff" and await server.session.storage.keys() == [
        "binary",
        "n",
    ]


@server.tool()
def persistent() -> bool:
    """Return whether values outlive the page or the process."""
    return server.session.storage.persistent


@server.tool()
def module_global() -> int:
    """Count one further, in a global of the module."""
    global calls
    calls += 1
    return calls


@server.tool()
def session() -> list[str]:
    """Return what is known of the session."""
    session = server.session
    return [
        "local" if session.id == "local" else "of the host",
        session.phase,
        "" if not session.origin else "an origin",
    ]


@server.tool()
async def asks(ctx: Context) -> int | None:
    """Ask in the middle of a call."""
    answer = await ctx.elicit("How old?", Age)
    return answer.data.age if answer.action == "accept" else None


@server.tool()
async def asks_as_a_task(ctx: Context) -> int | None:
    """Take longer than a request, and ask."""
    await asyncio.sleep(0.5)
    answer = await ctx.elicit("How old?", Age)
    return answer.data.age if answer.action == "accept" else None


@server.tool()
async def waits() -> None:
    """Wait without an end."""
    await asyncio.Event().wait()


@server.tool()
def rows() -> Kept[list[list[int]]]:
    """Return rows by reference."""
    return kept([[number, number**2] for number in range(2500)], summary="Squares")


@server.tool()
def total(rows: Kept[list[list[int]]]) -> int:
    """Return the sum of the first column of kept rows."""
    return sum(row[0] for row in rows.value)


@server.tool()
def echo(number: int) -> int:
    """Return an integer."""
    return number


@server.tool()
def raises() -> str:
    """Fail."""
    raise LookupError("nothing there")


@server.tool()
def infinite() -> float:
    """Return what JSON does not have."""
    return float("inf")


@server.tool()
def in_emscripten() -> bool:
    """Return whether Python runs in WebAssembly."""
    return sys.platform == "emscripten"


@server.tool()
def starts_a_program() -> str:
    """Start a program."""
    return subprocess.run(
        [sys.executable, "-c", "print('ran')"], capture_output=True, text=True, check=True
    ).stdout.strip()


@server.tool()
async def connects() -> str:
    """Listen on a socket, and connect to it."""
    listening = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with listening:
        _, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.close()
    return "connected"


@server.tool()
async def draws() -> str:
    """Show something in the page."""
    server.session.page.element("#mcpframe-app").text = "drawn"
    return "drawn"
