"""Threads of a server of mcp 2.x in Firefox, which has stack switching, and in WebKitGTK, which has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.serve import serve_folder
from tests.browser.engines import Engine, until
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import HOST

SERVER = '''
import asyncio
import json
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

from mcpframe import FrameServer

server = FrameServer("threads")
local = threading.local()


async def later(value: str) -> str:
    await asyncio.sleep(0.01)
    return value


def consume(todo: queue.Queue) -> list:
    local.mine = threading.current_thread().name
    items = [todo.get(), todo.get()]
    return [*items, local.mine]


@server.tool()
def outcome() -> str:
    """Hand values to a consumer in a pool, run a loop, and return what came of both."""
    said = {}
    todo = queue.Queue()
    pool = ThreadPoolExecutor(1, "consumer")
    consumed = pool.submit(consume, todo)
    todo.put(1)
    todo.put(2)
    loop = asyncio.new_event_loop()
    for name, get in {"pool": consumed.result, "loop": lambda: loop.run_until_complete(later("x"))}.items():
        try:
            said[name] = get()
        except RuntimeError as error:
            said[name] = str(error)
    return json.dumps(said | {"main": hasattr(local, "mine")})
'''


@pytest.mark.extended
@pytest.mark.parametrize("place", ["page", "worker"])
def test_a_pool_hands_over_or_says_why_it_cannot(engine: Engine, tmp_path: Path, place: str) -> None:
    pages, bundles = tmp_path / "pages", tmp_path / "bundles"
    pages.mkdir()
    bundles.mkdir()
    (pages / "index.html").write_text(HOST)
    project = write_project(tmp_path / "project", f'runs_in = "{place}"', SERVER)
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        path = build(project, bundles, allowed_origins=[page.origin]).url_path
        engine.open(f"{page.origin}/?frame={frame.origin}/{path}&tool=outcome")
        until(engine, "document.title.startsWith('{')")
        answer = json.loads(engine.run("return document.title"))
        switches = engine.run("return 'Suspending' in WebAssembly")
    said = json.loads(answer["content"][0]["text"])
    assert not said["main"]
    if switches:
        assert (said["pool"], said["loop"]) == ([1, 2, "consumer_0"], "x")
    else:
        assert all("no stack switching" in said[name] for name in ("pool", "loop")), said
