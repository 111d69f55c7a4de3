"""A server that tells which page it runs in, and what that page and its session remember."""

import json

import js

from mcpframe import FrameServer

server = FrameServer("remembering")
calls = 0


@server.tool(structured_output=False)
async def remember(text: str) -> str:
    """Return the text, the page and its browser, and how many calls the page and the session have had, as JSON."""
    global calls
    calls += 1
    stored = await server.session.storage.update("calls", lambda stored: stored + 1, 0)
    page, browser = js.performance.timeOrigin, js.navigator.userAgent
    return json.dumps({"text": text, "page": page, "browser": browser, "calls": calls, "stored": stored})


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text, without storage: clients from 2026-07-28 on share one page."""
    return text
