"""Play a page by hand: make it post messages, and read those it received (see pages/page.js)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, runtime_checkable

import anyio
from playwright.async_api import BrowserContext, Error, Frame, Page, Route

POLL = 30
"""How often Playwright polls, in milliseconds. By default it polls on every paint, which hidden pages do not have."""

HANDSHAKE = {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
"""How a client of plain MCP begins."""


@runtime_checkable
class Played(Protocol):
    """A page without a browser, which is played in Python: see tests/contract."""

    async def say(self, message: Any) -> None: ...

    async def heard(self, count: int) -> list[dict[str, Any]]: ...


Release = Callable[[], None]


@asynccontextmanager
async def held(context: BrowserContext, files: str) -> AsyncIterator[Release]:
    """Hold back files that pages request, until the returned function is called."""
    released = anyio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        with suppress(Error):  # the page that requested it is gone
            await route.continue_()

    await context.route(files, hold)
    try:
        yield released.set
    finally:
        released.set()
        await context.unroute_all(behavior="wait")


async def loaded(frame: Frame, url: str | Callable[[str], bool]) -> Frame:
    """Wait for the page by hand at an address in a frame, and return the frame."""
    if not isinstance(frame, Played):
        # Playwright loses a wait that began in the empty document of a frame that then moves to another process.
        await frame.wait_for_url(url)
        await frame.wait_for_function("() => typeof say === 'function'", polling=POLL)  # hidden frames draw nothing
    return frame


async def until_true(frame: Frame | Page, condition: str, argument: Any = None) -> None:
    """Wait until an async function in a page returns something true.

    To `wait_for_function` the promise itself would be true.
    """
    await frame.evaluate(
        f"""async (argument) => {{
            while (!(await ({condition})(argument))) await new Promise((done) => setTimeout(done, {POLL}));
        }}""",
        argument,
    )


async def say(frame: Frame, message: Any) -> None:
    """Let a page post to its parent window."""
    if isinstance(frame, Played):
        await frame.say(message)
        return
    await frame.evaluate("text => say(text)", json.dumps(message))


async def heard(frame: Frame | Page, count: int) -> list[dict[str, Any]]:
    """Wait until a page has received a number of messages, and return all of them."""
    if isinstance(frame, Played):
        return await frame.heard(count)
    await frame.wait_for_function("count => heard.length >= count", arg=count, polling=POLL)
    messages: list[dict[str, Any]] = await frame.evaluate("heard")
    return messages


async def accept(frame: Frame) -> str:
    """Play the inner frame's handshake to its end, and return the session id."""
    await say(frame, HANDSHAKE)
    (reply,) = await heard(frame, 1)
    session_id: str = reply["data"]["sessionId"]
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": session_id})
    return session_id
