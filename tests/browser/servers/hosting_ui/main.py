"""A page that is a host of mcp-ui: a test says what it shows, and how actions are answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcpframe import Page, errors
from mcpframe.hosts import UiHost


async def main(page: Page) -> None:
    """Show one resource after another."""
    await page.show("page.html")
    notes = page.element("#notes")
    shown: Any = None
    closing = asyncio.Event()

    def note(kind: str, *values: Any) -> None:
        notes.text = json.dumps([*json.loads(notes.text), [kind, *values]])

    def handler(kind: str, how: str, value: Any) -> Any:
        async def handle(*arguments: Any) -> Any:
            note(kind, *arguments)
            if how == "raises":
                raise LookupError(value)
            return {1, 2} if how == "set" else value

        return handle

    async def show(told: dict[str, Any]) -> None:
        nonlocal shown
        handlers = {f"on_{kind}": handler(kind, *answer) for kind, answer in told.get("answers", {}).items()}
        try:
            host = UiHost(told["resource"], **told.get("options", {}), **handlers)
        except errors.McpFrameError as error:
            note("error", type(error).__name__, str(error))
            return
        async with host.show("#place") as shown:
            await closing.wait()
            closing.clear()
        note("closed")

    def called() -> None:
        told = json.loads(page.element("#call").value)
        if "resource" in told:
            tasks.append(asyncio.create_task(show(told)))
        elif "render" in told:
            shown.render(told["render"])
        else:
            closing.set()

    tasks: list[asyncio.Task[None]] = []
    page.element("#call").on("say", called)
    await asyncio.get_running_loop().create_future()
