"""Pictures of servers, taken by a headless Chromium: each is started in `<mcp-server>`, as on the gallery's page.

A server that draws is shown as its page, another one as the form of its first tool. The browser reaches nothing but the
gallery. Pictures are kept in the cache, by what the bundle was built from.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.cache import cache_dir, write_file
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.browser.devtools.driven_page import RemoteObject
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.bundle.snapshot.build_browser import BuildPage, Chromium, NoBrowser, PageSettings
from mcpframe.kit.publish.gallery.files import ASSETS, gallery_assets
from mcpframe.kit.web.site import Site

if TYPE_CHECKING:
    from mcpframe.kit.browser.devtools.launch import StartedChromium
    from mcpframe.kit.bundle.snapshot.build_site import JobPage

WIDTH, HEIGHT = 384, 240
"""The size of a picture in CSS pixels, as a card shows it."""
SCALE = 2
SUFFIX = ".webp"
MOST_BYTES = 40_000

_QUALITIES = (90, 75, 60, 45, 30, 15, 1)
_START_SECONDS = 120.0
_DRAW_SECONDS = 30.0
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_PAGE = "/picture.html"
_TEXT = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light">
<title>Picture</title>
<link rel="icon" href="data:,">
<style>
  body {{ margin: 0; height: {HEIGHT}px; overflow: hidden; }}
  mcp-server {{ border: 0; border-radius: 0; --mcp-server-page-height: {HEIGHT}px; }}
</style>
<script type="module" src="{ASSETS}/element.js"></script>
<mcp-server src="URL" loading="eager"></mcp-server>
"""
_SETTLED = "() => document.querySelector('mcp-server').matches(':state(ready), :state(failed)')"
_READY = "document.querySelector('mcp-server').matches(':state(ready)')"
_FRAME = """() => {
  const server = document.querySelector("mcp-server");
  return server.querySelector("iframe") ?? server.shadowRoot.querySelector("iframe");
}"""
_DRAWN = """() => [...document.querySelectorAll("#mcpframe-app > *")].some(({ offsetWidth, offsetHeight }) =>
  offsetWidth * offsetHeight > 0)"""
_SHOW = """(_, part) => {
  const element = document.querySelector("mcp-server");
  element.show = part;
  const tool = element.shadowRoot.querySelector("details");
  if (tool) tool.open = true;
}"""
_PAINTED = """() => document.fonts.ready.then(() =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))"""
_UNTIL = """async (_, seconds) => {
  const end = performance.now() + seconds * 1000;
  const holds = CONDITION;
  while (!holds() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  return holds();
}"""
_RECIPE = 3
"""Raised when pictures are taken in another way, so that those in the cache are not used."""


@dataclass(frozen=True)
class Subject:
    """A server to take a picture of.

    Attributes:
        url: Its page, relative to the gallery.
        inputs: The hash of all that it was built from; empty if that may change at any time.
        draws: Whether its page draws anything.
    """

    url: str
    inputs: str
    draws: bool


def take_pictures(out: Path, subjects: Mapping[str, Subject], progress: Progress = silent) -> dict[str, bytes]:
    """Return pictures of servers, as WebP, by name. One that does not start has none; without a browser, none has.

    Args:
        out: The folder of the gallery.
        subjects: The servers, by name.
        progress: Reports long steps.
    """
    kept = {name: cache_dir() / "pictures" / f"{_key(subject)}{SUFFIX}" for name, subject in subjects.items()}
    pictures = {name: path.read_bytes() for name, path in kept.items() if subjects[name].inputs and path.is_file()}
    missing = {name: subject for name, subject in subjects.items() if name not in pictures}
    if missing:
        # The browser has an event loop of its own, and the caller's thread may have one.
        with progress("Taking pictures of the servers"), ThreadPoolExecutor(1, "pictures") as thread:
            taken = thread.submit(_take, out, missing).result()
        for name, picture in taken.items():
            if subjects[name].inputs:
                write_file(kept[name], picture)
        pictures |= taken
    return pictures


def _key(subject: Subject) -> str:
    return hashlib.sha256(f"{_RECIPE} {subject.url} {subject.inputs}".encode()).hexdigest()


class _Studio:
    """The ASGI application of the gallery and of the page on which a server is shown."""

    def __init__(self, out: Path) -> None:
        self._site = Site(out)
        self._files = {f"/{path}": data for path, data in gallery_assets().items()}

    def place(self, subject: Subject) -> None:
        """Show this server from now on."""
        self._files[_PAGE] = _TEXT.replace("URL", escape(subject.url)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        path = scope.get("path", "")
        data = self._files.get(path)
        kind = _TYPES.get(PurePosixPath(path).suffix, "text/plain")
        await (self._site if data is None else Response(data, media_type=kind))(scope, receive, send)


def _take(out: Path, subjects: Mapping[str, Subject]) -> dict[str, bytes]:
    taken = {}
    studio = _Studio(out)
    chromium = Chromium(is_shared=True)
    try:
        origin = chromium.show(cast("JobPage", studio))  # which it serves as any other application
        page = chromium.run(_opened(chromium.started()))
        for name, subject in subjects.items():
            studio.place(subject)
            if picture := chromium.run(_picture(page, f"{origin}{_PAGE}", draws=subject.draws)):
                taken[name] = picture
    except (NoBrowser, PageGone):  # a gallery is complete without pictures
        pass
    finally:
        chromium.close()
    return taken


async def _opened(browser: StartedChromium) -> BuildPage:
    page = await BuildPage.open(browser, PageSettings(WIDTH, HEIGHT, ""))
    media = {"prefers-color-scheme": "light", "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in media.items()]
    await page.command("Emulation.setEmulatedMedia", features=features)
    return page


async def _picture(page: BuildPage, url: str, *, draws: bool) -> bytes | None:
    """Return the picture of a server; None if it does not start, or is not to be had in `MOST_BYTES`."""
    try:
        async with asyncio.timeout(_START_SECONDS):
            await page.navigate(url)
    except TimeoutError:
        return None
    top = await page.remote("() => window")
    if not await _until(top, _SETTLED, _START_SECONDS) or not await page.evaluate(_READY):
        return None
    if draws:
        frame = await page.frame(await top.remote(_FRAME))
        if not await _until(frame, _DRAWN, _DRAW_SECONDS):
            return None
        await frame.call(_PAINTED)
    await top.call(_SHOW, "page" if draws else "tools")
    await top.call(_PAINTED)
    return await _small(page)


async def _until(window: RemoteObject, condition: str, seconds: float) -> Any:
    return await window.call(_UNTIL.replace("CONDITION", condition), seconds)


async def _small(page: BuildPage) -> bytes | None:
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
    for quality in _QUALITIES:
        taken = await page.command("Page.captureScreenshot", format="webp", quality=quality, clip=clip)
        if len(picture := base64.b64decode(taken["data"])) <= MOST_BYTES:
            return picture
    return None
