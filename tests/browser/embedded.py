"""The page of `servers/embedded` as a test uses it: its form calls `session.host`."""

from __future__ import annotations

import json
from typing import Any

from playwright.async_api import FrameLocator, expect


async def asked(frame: FrameLocator, method: str, **arguments: Any) -> dict[str, Any]:
    """Let the page call a method of its host API, and return what came of it."""
    await frame.locator("#answer").evaluate("element => { element.textContent = ''; }")
    await say(frame, method, arguments)
    await expect(frame.locator("#answer")).not_to_be_empty()
    answer: dict[str, Any] = json.loads(await frame.locator("#answer").text_content() or "")
    return answer


async def say(frame: FrameLocator, method: str, arguments: Any) -> None:
    """Call a method of the page."""
    call = frame.locator("#call")
    await call.fill(json.dumps([method, arguments]))
    await call.dispatch_event("change")
