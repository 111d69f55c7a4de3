"""Servers for the tests of workers."""

from __future__ import annotations

import os
import time

from mcp.server.mcpserver import Context

from mcpframe import FrameServer

computing = FrameServer("computing", allowed_origins=["https://host.example"])
_runs: list[str] = []


@computing.tool()
async def spin(seconds: float = 60.0) -> str:
    """Compute without pause, in the loop's own thread, as every tool does in a worker."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


@computing.tool()
async def note(text: str) -> str:
    """Note a text in a global variable."""
    _runs.append(text)
    return ", ".join(_runs)


@computing.tool()
async def keep(text: str) -> str:
    """Keep a text in the session, and return what it is."""
    session = computing.session
    texts = await session.storage.update("texts", lambda texts: [*texts, text], [])
    return f"{session.id} {session.origin} {' '.join(texts)} {session.closed.is_set()}"


@computing.tool()
async def show() -> str:
    """Use the page, which is not there."""
    await computing.session.page.show("view.html")
    return "shown"


@computing.tool()
async def wait(ctx: Context) -> str:  # type: ignore[type-arg]
    """Report progress, and wait until it is cancelled."""
    import anyio

    await ctx.report_progress(1, message="waiting")
    await anyio.sleep_forever()
    return "never"


@computing.tool()
async def crash() -> str:
    """End the process."""
    os._exit(3)
