"""The command line of the profile."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp import Client
from mcp.client.client import ConnectMode
from playwright.async_api import Browser, Page, Route, async_playwright

from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.base.cache import write_file
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.browser.devtools.host_page import OFF
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.bundle.pyodide.compile import cached
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.wasm.module import FUNCTIONS, read
from mcpframe.kit.bundle.wasm.profile import FOLDER, WHOLE, WasmProfile, profiles, to_json
from mcpframe.kit.bundle.wasm.split import split
from mcpframe.kit.web.serve import FRAMED_HOST, serve_folder
from tests.support.built import find
from tests.support.first_calls import FIRST_CALLS
from tests.wasm_profile.drive import CALLBACKS, drive
from tests.wasm_profile.further import FURTHER
from tests.wasm_profile.noting import noting, numbers
from tests.wasm_profile.proof import prove
from tests.wasm_profile.tables import READERS, TABLES, prove_unread

NAMES = (
    *(
        "everything",
        "mcp1-everything",
        "minimal",
        "forecast",
        "fractal",
        "json-analyzer",
        "pi-calculator",
        "mermaid-editor",
    ),
    *("authored", "inspected", "view", "mcp1-lowlevel", "computing", "switched", "usual"),
)
"""The servers: of `templates`, `tests/browser/servers`, and one of this folder."""
_UPGRADED = ("everything", "authored", "view", "usual")
"""Those that run most, which are built with the newest packages, too: a new project has them."""
_ONLY = {"computing": ("where", "keep")}
"""The tools to call of servers that have others which never end."""
Round = tuple[Mapping[str, Any], ConnectMode]
"""How a server is asked: arguments of `OuterFrame`, and the era of the protocol."""
_ROUNDS: tuple[Round, ...] = (
    *(({}, "auto"), ({}, "legacy"), ({}, "2026-07-28"), ({"dialect": "plain_mcp"}, "auto")),
    ({"sandbox": "allow-scripts", "opaque": True}, "auto"),
)
"""Those of the first two; the others have the first one."""
_AGAIN = "--again"
_LIMIT = 120  # seconds for each
_WASM = re.compile(r"/_mcpframe/(pyodide-[^/]+/pyodide\.asm|_pydantic_core\.\w+)\.wasm$")
_HOST = "http://127.0.0.1:8765"
_PAGE = '<!doctype html><title>Host</title><link rel="icon" href="data:,"><body></body>'
_LEAVE = """async () => {
    const events = [[document, "freeze"], [window, "pagehide"], [document, "visibilitychange"], [window, "pageshow"],
        [document, "resume"]];
    for (const [target, type] of events) {
        target.dispatchEvent(Object.assign(new Event(type), { persisted: true }));
        await new Promise((done) => setTimeout(done, 100));
    }
}"""
"""Tells a page that it is left and comes back: as it is left, no browser waits for a request."""
_WATCH = (Path(__file__).parent / "watch.js").read_text("utf-8")


def main(arguments: Sequence[str]) -> int:
    """Make the profiles anew, or add these servers to them, or only split again; return 0."""
    if list(arguments) == [_AGAIN]:
        _split_again()
        return 0
    earlier = profiles() if arguments else {}
    os.environ[WHOLE] = "1"
    names = arguments or NAMES
    files: dict[str, bytes] = {}
    noted: dict[str, set[int]] = {}
    with tempfile.TemporaryDirectory(prefix="mcpframe-profile-") as folder:
        root = Path(folder, "bundles")
        for name in names:
            rounds = _ROUNDS if arguments or name in NAMES[:2] else _ROUNDS[:1]
            for project, upgrade in _projects(name, Path(folder, "copies")):
                path = build(project, root, allowed_origins=[_HOST], upgrade=upgrade).url_path
                found = asyncio.run(_noted(name, root, path, files, rounds))
                for sha256, places in found.items():
                    noted.setdefault(sha256, set()).update(places)
                    counts = f"{len(places)} functions of {sha256[:8]}, {len(noted[sha256])} with those before"
                    print(f"{name}: {counts}", file=sys.stderr, flush=True)
    for sha256, places in noted.items():
        data = files[sha256]
        module = read(data)
        imported = module.imported(FUNCTIONS)
        later = frozenset(range(imported, imported + len(module.functions))) - numbers(data, frozenset(places))
        later -= frozenset(FURTHER.get(sha256, ()))
        if sha256 in earlier:
            later &= earlier[sha256].later
        _keep(data, later)
    return 0


def _split_again() -> None:
    """Write the profiles of files with `TABLES` anew, and prove them. The wheels are in the cache of builds."""
    wheels = [path for path in cached("wheels", "").rglob("pydantic_core-*.whl") if path.is_file()]
    libraries = (data for path in wheels for name, data in unpack(path).items() if name.endswith(".so"))
    for data in ((ensure_runtime().folder / "pyodide.asm.wasm").read_bytes(), *libraries):
        profile = profiles().get(hashlib.sha256(data).hexdigest())
        if profile and profile.sha256 in TABLES:
            _keep(data, profile.later.difference(FURTHER.get(profile.sha256, ())))


def _keep(data: bytes, later: frozenset[int]) -> None:
    """Prove the split of a file and write its profile.

    Args:
        later: The functions of the second file.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    later |= READERS.get(sha256, frozenset())
    tables = TABLES.get(sha256, ())
    pair = split(data, later, tables)
    prove(data, pair)
    prove_unread(sha256, pair, later, tables)
    profile = WasmProfile(_name_of(data), sha256, later, tables)
    write_file(FOLDER / f"{sha256[:16]}.json", (json.dumps(to_json(profile), indent=1) + "\n").encode())
    sizes = [len(gzip.compress(each)) for each in (data, pair.first, pair.second)]
    functions = len(read(data).functions)
    print(f"{profile.file}: {functions - len(later)} of {functions} functions run; ", end="")
    print(f"gzip {sizes[0]:,} -> {sizes[1]:,} and {sizes[2]:,} bytes")


def _projects(name: str, folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield a server's project, and of some a copy, with whether to build it with the newest packages."""
    own = Path(__file__).parent / "servers" / name
    project = own if own.is_dir() else find(name)
    yield project, False
    if name in _UPGRADED:
        yield shutil.copytree(project, folder / name), True


def _name_of(data: bytes) -> str:
    return "_pydantic_core" if b"pydantic_core" in data else "pyodide.asm"


async def _noted(
    name: str, root: Path, path: str, files: dict[str, bytes], rounds: Sequence[Round]
) -> Mapping[str, set[int]]:
    """Return the functions that a server runs, by the hash of their file; the files are added to `files`.

    Args:
        path: The path of its page below `root`.
        rounds: How it is asked.
    """
    noted: dict[str, set[int]] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(ensure_chromium(), off=OFF))
        with serve_folder(root, host=FRAMED_HOST) as served:
            for options, era in rounds:
                page = await _host_page(browser, root, files)
                outer = OuterFrame(f"{served.origin}/{path}", **options)
                async with (
                    asyncio.timeout(_LIMIT),
                    Client(outer.connect(PlaywrightPlace(page), visible=True), mode=era, **CALLBACKS) as client,
                ):
                    await drive(client, dict([FIRST_CALLS[name]] if name in FIRST_CALLS else []), _ONLY.get(name))
                    for frame in page.frames[1:]:
                        await frame.evaluate(_LEAVE)
                    await client.list_tools()
                    for frame in page.frames[1:]:
                        for sha256, places in await frame.evaluate("globalThis.mcpframePlaces()"):
                            noted.setdefault(sha256, set()).update(places)
                await page.context.close()
        await browser.close()
    return noted


async def _host_page(browser: Browser, root: Path, files: dict[str, bytes]) -> Page:
    """Return an empty host page; the WebAssembly of pages that it frames notes what it runs."""
    page = await (await browser.new_context()).new_page()
    copies: dict[str, bytes] = {}

    async def answer(route: Route) -> None:
        path = unquote(urlsplit(route.request.url).path)
        if path not in copies:
            data = (root / path.lstrip("/")).read_bytes()
            files[hashlib.sha256(data).hexdigest()] = data
            copies[path] = noting(data)
        await route.fulfill(body=copies[path], content_type="application/wasm")

    await page.add_init_script(_WATCH)
    await page.route(_WASM, answer)
    await page.route(f"{_HOST}/", lambda route: route.fulfill(body=_PAGE, content_type="text/html"))
    await page.goto(f"{_HOST}/")
    return page


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
