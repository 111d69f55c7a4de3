"""A server with a setup and a UI of its own, written as an author would, and tools that tell what became of them."""

import asyncio
import gc
import importlib
import json
import os
import signal
import weakref
import zoneinfo
from pathlib import Path
from typing import Any

from mcpframe import FrameServer, FrameSession, Permission, Setup, SetupCancelled, SetupFailed, errors

server = FrameServer("authored", version="1.0.0")
seen: list[bool] = []
clicks = 0
happened: asyncio.Queue[Any] = asyncio.Queue()


@server.setup(visible=True, permissions=[Permission("clipboard-write", purpose="To copy results")])
async def setup(session: FrameSession) -> Setup:
    """Show a form, and keep what is entered."""
    page = session.page
    await page.show("setup.html")

    def outcome(button: str, error: Exception) -> asyncio.Task[None]:
        async def wait() -> None:
            await page.element(button).event("click")
            raise error

        return asyncio.create_task(wait())

    async def saved() -> None:
        await page.element("#form").event("submit")

    endings = [
        asyncio.create_task(saved()),
        outcome("#cancel", SetupCancelled()),
        outcome("#deny", SetupFailed("AUTH_FAILED", "Wrong password")),
        outcome("#crash", LookupError("no such thing")),
        outcome("#slow", TimeoutError()),
    ]
    try:
        done, _ = await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        await done.pop()
    finally:
        for task in endings:
            task.cancel()
    name = page.element("#name").value
    if page.element("#file").js.files.length:
        (file,) = await page.element("#file").files()
        await session.storage.set("file", await file.read())
    await session.storage.set("name", {"name": name, "phase": session.phase})
    return Setup(title=f"Authored: {name}", ephemeral_message="Saved")


@server.ui
async def ui(session: FrameSession) -> None:
    """Count clicks, and note when the page is seen."""
    page = session.page
    await page.show("ui.html")

    def more() -> None:
        global clicks
        clicks += 1
        page.element("#count").text = str(clicks)

    page.element("#more").on("click", more)

    async def fails(event: Any) -> None:
        raise ValueError(f"{event.kind} on {event.target.get('id')}")

    page.element("#fails").on("click", fails)
    async for visible in page.visibility():
        seen.append(visible)  # noqa: PERF401  one by one, as they happen


@server.tool()
async def blunder(kind: str, url: str = "") -> Any:
    """Do what works on a machine of its own, and not in a page."""
    if kind == "pyfetch":
        from pyodide.http import pyfetch

        return await (await pyfetch(url)).text()
    if kind == "js.fetch":
        import js

        return await (await js.fetch(url)).text()
    if kind == "open_url":
        from pyodide.http import open_url

        return open_url(url).read()
    if kind == "urllib":
        import urllib.request

        return urllib.request.urlopen(url).read()  # noqa: ASYNC210
    if kind == "connection":
        return await asyncio.open_connection("elsewhere.localhost", 1)
    if kind == "subprocess":
        import subprocess

        return subprocess.check_output(["ls"])  # noqa: ASYNC221
    if kind == "exec":
        return await asyncio.create_subprocess_exec("ls")
    if kind == "fork":
        return os.fork()
    if kind == "run":
        server.run()
    if kind == "import":
        importlib.import_module(url)
    if kind == "zone":
        zoneinfo.ZoneInfo("Europe/Berlin")
    if kind == "alarm":
        signal.alarm(1)
    return {
        "open": lambda: open("data/terms.json").read(),  # noqa: PTH123
        "path": lambda: (Path(__file__).parent / "data/terms.json").read_text(),
        "environment": lambda: os.environ["API_KEY"],
        "input": input,
    }[kind]()


@server.tool()
async def session_facts() -> dict[str, Any]:
    """What the session is."""
    session = server.session
    return {
        "id": session.id,
        "origin": session.origin,
        "phase": session.phase,
        "persistent": session.storage.persistent,
        "same": session is server.session,
    }


@server.tool()
async def stored(key: str) -> dict[str, Any]:
    """Return a value; of bytes, how many there are and the first."""
    value = await server.session.storage.get(key, "nothing")
    return {"bytes": len(value), "first": value[0]} if isinstance(value, bytes) else {"value": value}


@server.tool()
async def store(key: str, size: int, binary: bool = False) -> str:
    """Store a value of this size."""
    try:
        await server.session.storage.set(key, b"\x07" * size if binary else "x" * size)
    except errors.StorageError as error:
        return f"{type(error).__name__}: {error}"
    return "stored"


@server.tool()
async def store_json(key: str, text: str) -> None:
    """Store what a JSON text says."""
    await server.session.storage.set(key, json.loads(text))


@server.tool()
async def count_up() -> int:
    """Add one to a stored number."""
    count: int = await server.session.storage.update("count", lambda count: count + 1, 0)
    return count


@server.tool()
async def stored_keys() -> list[str]:
    """List the keys."""
    return await server.session.storage.keys()


@server.tool()
async def forget(key: str = "") -> list[str]:
    """Delete a value, or all."""
    storage = server.session.storage
    await (storage.delete(key) if key else storage.clear())
    return await storage.keys()


@server.tool()
async def need_setup(reason: str, can_continue: bool) -> None:
    """Ask for the setup again."""
    await server.session.require_setup(reason, "Please sign in", can_continue)  # type: ignore[arg-type]


@server.tool()
async def visible() -> dict[str, Any]:
    """Whether the page is seen, and was."""
    return {"now": server.session.page.visible, "seen": seen}


@server.tool()
async def draw(text: str) -> dict[str, Any]:
    """Draw with a JavaScript module."""
    page = server.session.page
    element = page.element("#drawn")
    module = await page.import_module("drawing.js")
    drawn = asyncio.ensure_future(element.event("drawn"))
    await asyncio.sleep(0)
    module.draw(element.js, text)
    return {"text": element.text, "detail": (await drawn).detail}


@server.tool()
async def import_broken(path: str) -> str:
    """Import a module that cannot be."""
    try:
        await server.session.page.import_module(path)
    except errors.PageError as error:
        return str(error)
    return "imported"


@server.tool()
async def asset_facts() -> dict[str, Any]:
    """Read assets in both ways."""
    page = server.session.page
    here = Path(__file__).parent
    return {
        "url": page.asset_url("data.json"),
        "fetched": json.loads(await page.asset_bytes("./deep/../data.json")),
        "opened": json.loads((here / "data.json").read_text()),
        "script": (here / "drawing.js").exists(),
    }


@server.tool()
async def show_inner() -> dict[str, Any]:
    """Show another fragment, and wait for an element that goes away."""
    page = server.session.page
    gone = asyncio.ensure_future(page.element("#more").event("click"))
    await asyncio.sleep(0)
    await page.show("deep/inner.html")
    lost = (await asyncio.gather(gone, return_exceptions=True))[0]
    ran = getattr(page.js.defaultView, "scriptRan", None)
    picture = page.element("#inner-picture")
    if not picture.js.complete:
        await picture.event("load")
    return {"width": picture.js.naturalWidth, "ran": ran, "lost": str(lost)}


@server.tool()
async def chosen() -> list[str]:
    """Wait for files."""
    files = await server.session.page.element("#files").files()
    return [f"{file.name} {file.kind} {file.size} {await file.text()}" for file in files]


@server.tool()
async def listen_often(times: int) -> dict[str, int]:
    """Listen and stop, again and again, and count what is left: of Python's objects, and of what the browser holds."""
    page = server.session.page
    left: list[weakref.ref[Any]] = []

    class Handler:
        def __call__(self) -> None:
            """Do nothing."""

    def round_of_listening() -> None:
        element = page.element("#list").add("button", "x", class_="listed", disabled=False)
        by_hand, by_removal = Handler(), Handler()
        left.extend((weakref.ref(by_hand), weakref.ref(by_removal)))
        stop = element.on("click", by_hand)
        element.on("click", by_removal)
        element.js.click()
        stop()
        stop()
        element.remove()

    round_of_listening()
    gc.collect()
    before = _proxies()
    held = page.element("#list").on("click", lambda: None)
    counted = _proxies() - before
    held()
    for _ in range(times):
        round_of_listening()
    gc.collect()
    handlers = sum(ref() is not None for ref in left)
    return {"counted": counted, "handlers": handlers, "proxies": _proxies() - before}


def _proxies() -> int:
    import pyodide_js

    return int(pyodide_js._module.pyproxy_alloc_map.size)


@server.tool()
def trace_proxies() -> str:
    """Make Pyodide count its proxies."""
    import pyodide_js

    pyodide_js._module.enable_pyproxy_allocation_tracing()
    return "tracing"
