"""The example of docs/how-to/embedded.md: its server, its page and its host, with each other."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
from mcp import Client

from tests.support.framed_page import FramedPage

BOARD = Path(__file__).parents[5] / "docs" / "examples" / "board"


def example(name: str) -> ModuleType:
    """Import a file of the example."""
    spec = importlib.util.spec_from_file_location(f"board_{name}", BOARD / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_host_shows_what_the_tool_returns() -> None:
    page = FramedPage("https://tools.example")
    with anyio.fail_after(120):
        async with Client(example("tasks").server) as client:
            showing = asyncio.create_task(example("chat").show_board(client, page))
            await page.listened.wait()
            assert page.framing.url == "https://tools.example/board/?waitForRenderData=true"
            page.say("ui-lifecycle-iframe-ready")
            data = (await page.heard.get())["payload"]["renderData"]
            assert data == {"tasks": ["Buy groceries", "Call Ada"]}
            answer: Any = await page.asks("intent", intent="plan-day", params=data)
            assert answer == {"response": "plan-day with 2 tasks"}
            showing.cancel()
            await asyncio.wait([showing])


def test_the_page_is_a_server_with_a_ui() -> None:
    assert example("board").server.ui_function is not None
