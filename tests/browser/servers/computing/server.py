"""A server whose tools compute without end, or end Python."""

import asyncio
import posix
import time
from pathlib import Path

from mcpframe import FrameServer, Tasks

server = FrameServer("computing", extensions=[Tasks(after=0.5)])
texts: list[str] = []


@server.tool()
def spin() -> str:
    """Compute for ever."""
    while True:
        pass


@server.tool()
def limited() -> str:
    """Compute for ever, with a time limit in pyproject.toml."""
    while True:
        pass


@server.tool()
def nap(seconds: float) -> str:
    """Sleep in the one thread there is."""
    time.sleep(seconds)
    return "slept"


@server.tool()
def ask(question: str) -> str:
    """Ask the user, as a program at a terminal does."""
    return f"{input(question)}!"


@server.tool()
async def hang() -> str:
    """Wait for ever."""
    await asyncio.Event().wait()
    return "never"


@server.tool()
async def spin_later() -> str:
    """Become a task, and compute for ever."""
    await asyncio.sleep(1)
    while True:
        pass


@server.tool()
def keep(text: str) -> list[str]:
    """Keep a text in a global variable, and return all of them."""
    texts.append(text)
    return texts


@server.tool()
def write(text: str) -> list[str]:
    """Append a line to a file, and return its lines."""
    with Path("~/kept.txt").expanduser().open("a+") as file:
        file.write(f"{text}\n")
        file.seek(0)
        return file.read().split()


@server.tool()
async def store(text: str) -> list[str]:
    """Store a text in the session, and return all of them."""
    return await server.session.storage.update("texts", lambda stored: [*stored, text], [])


@server.tool()
def where() -> str:
    """Tell what kind of global scope this is."""
    import js

    return "page" if hasattr(js, "document") else "worker"


@server.tool()
async def vanish(after: float) -> str:
    """End the worker in silence, before the answer, or some seconds after it."""
    import js

    js.postMessage("hello")  # no text of the port
    js.postMessage(None)
    if after:
        asyncio.get_running_loop().call_later(after, js.close)
    else:
        js.close()
        await asyncio.sleep(1)
    return "gone"


@server.tool()
def end_session() -> str:
    """Tell the page that the first client has left."""
    import js

    js.postMessage('["closed", 1]\n')
    return "told"


@server.tool()
def crash() -> str:
    """End Python."""
    posix.abort()
