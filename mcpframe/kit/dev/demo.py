"""The demo: a host page and a server framed by it, on two sites; a real browser calls the server's tool."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.errors import DemoError, PortTaken
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.inspector import serve_inspector
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.host_page import bundle_client, write_host_page
from mcpframe.kit.web.serve import FRAMED_HOST, Served, serve_app
from mcpframe.kit.web.site import Site

if TYPE_CHECKING:
    from playwright.async_api import Page

#: The tool to call, and its argument.
TOOL = "calculate_pi"
ITERATIONS = 100_000

# Used if no port is given and they are free, so that the next run can reuse the bundle for the same host origin.
_BUNDLE_PORT, _PAGE_PORT = 8700, 8701
_PATIENCE = 180.0
_CLOSE_TIMEOUT = 10.0


@dataclass(frozen=True)
class Answer:
    """The answer that the host page shows.

    Attributes:
        tools: The names of the server's tools.
        text: The text of the tool's answer.
        structured: Its structured content, or None if it has none.
    """

    tools: list[str]
    text: str
    structured: object

    @property
    def number(self) -> float | None:
        """The estimate: `pi` of the structured content, or else the first decimal number in the text."""
        estimate = self.structured.get("pi") if isinstance(self.structured, dict) else None
        if isinstance(estimate, (int, float)):
            return float(estimate)
        decimal = re.search(r"-?\d+\.\d+", self.text)
        return float(decimal[0]) if decimal else None


def is_right(number: float | None, iterations: int) -> bool:
    """Return whether `number` is a plausible estimate of pi from `iterations` random points.

    A point is in the quarter circle with probability p = pi/4, so the estimate's standard deviation is
    4·sqrt(p(1 - p)/iterations); six of them are exceeded by chance once in 500 million runs.
    """
    share = math.pi / 4
    bound = 6 * 4 * math.sqrt(share * (1 - share) / iterations)
    return number is not None and abs(number - math.pi) <= bound


def run_demo(*, once: bool = False, port: int = 0, page_port: int = 0, progress: Progress = silent) -> None:
    """Build the pi template, serve it and the host page, call its tool in Chromium, print the answer and the addresses.

    Unless `once`, the servers among the templates are built as well, and the inspector is served with them as examples.

    It needs a clone of the repository, where the npm packages of the host page are pinned.

    Args:
        once: Return after the answer; otherwise serve until Ctrl-C.
        port: The port of the bundle's origin; 0 for a free one.
        page_port: The port of the host page's origin; 0 for a free one.
        progress: Reports long steps.

    Raises:
        DemoError: The page did not answer, or the answer is not pi.
        KitError: A dependency of the demo is missing or fails.
    """
    root = checkout_dir()
    chromium = ensure_chromium(install=True, progress=progress)
    client = bundle_client(install_locked(root, progress=progress), progress=progress)
    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(scratch("demo"))
        folder = temporary / "page"
        folder.mkdir()
        page = _serve(stack, Site(folder, readers=()), page_port, _PAGE_PORT)
        # A bundle is for one host origin. That of the usual port is kept; only one process at a time has this port.
        bundles = root / ".cache" / "demo" if page.port == _PAGE_PORT else temporary / "bundles"
        bundles.mkdir(parents=True, exist_ok=True)
        frame = _serve(stack, Site(bundles, readers=[page.origin]), port, _BUNDLE_PORT, FRAMED_HOST)
        template = templates_dir() / "pi-calculator"
        built = build(template, bundles, allowed_origins=[page.origin], progress=progress)
        frame_url = f"{frame.origin}/{built.name}/"
        write_host_page(folder, frame_url, client)
        with progress("Asking the server in headless Chromium"):
            answer = ask(f"{page.origin}/", chromium, {"iterations": ITERATIONS})
        print(f"tools: {', '.join(answer.tools)}")
        print(f"{TOOL}(iterations={ITERATIONS}) answers: {answer.text}")
        print(f"host page: {page.origin}/")
        print(f"server:    {frame_url}", flush=True)
        if not is_right(answer.number, ITERATIONS):
            raise DemoError(f"The answer of {TOOL} is not near pi: {answer.text!r}.")
        if not once:
            templates = sorted(path.parent for path in templates_dir().glob("*/pyproject.toml"))
            inspecting = stack.enter_context(serve_inspector(list(filter(_is_shown, templates)), progress=progress))
            print(f"inspector: {inspecting.url}", flush=True)
            _wait_for_the_end()


def _is_shown(template: Path) -> bool:
    """Return whether the inspector shows a template: a server all of whose packages come from the index."""
    project = find_project(template)
    lock = read_lock(project.lock_path)
    return project.config.kind == "server" and not (lock and any(each.source == "pyodide" for each in lock.packages))


def _serve(stack: contextlib.ExitStack, site: Site, port: int, usual: int, host: str = "127.0.0.1") -> Served:
    if port:
        return stack.enter_context(serve_app(site, port, host))
    try:
        return stack.enter_context(serve_app(site, usual, host))
    except PortTaken:
        return stack.enter_context(serve_app(site, host=host))


def _wait_for_the_end() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for_ever = threading.Event()
    with contextlib.suppress(KeyboardInterrupt):
        print("Serving them; press Ctrl-C to stop.", flush=True)
        # In short waits, because on Windows Ctrl-C does not interrupt a wait.
        while not for_ever.wait(1):
            pass


def ask(
    page_url: str,
    chromium: Path,
    arguments: dict[str, object],
    screenshot: Path | None = None,
    *,
    patience: float = _PATIENCE,
) -> Answer:
    """Open the host page, fill in the form of `TOOL`, submit it and read the answer from the page.

    Args:
        chromium: The browser's program.
        arguments: The values for the form's fields, by name.
        screenshot: The file for a picture of the page with the answer.
        patience: The deadline for the answer in seconds, including the browser's start, as not every wait of Playwright
            has a deadline.

    Raises:
        DemoError: The page could not connect or the tool failed; the message includes that of the page and its console.
    """
    return asyncio.run(_asked(page_url, chromium, arguments, screenshot, patience))


async def _asked(
    page_url: str, chromium: Path, arguments: dict[str, object], screenshot: Path | None, patience: float
) -> Answer:
    from playwright.async_api import Error, async_playwright

    complaints: list[str] = []
    try:
        async with asyncio.timeout(patience), async_playwright() as playwright:
            browser = await playwright.chromium.launch(**launch_options(chromium), timeout=patience * 1000)
            try:
                page = await browser.new_page()
                page.set_default_timeout(patience * 1000)
                return await _read_off(page, page_url, arguments, screenshot, complaints)
            finally:
                with contextlib.suppress(TimeoutError, Error):
                    async with asyncio.timeout(_CLOSE_TIMEOUT):  # otherwise its driver ends it
                        await browser.close()
    except TimeoutError:
        raise DemoError(
            _with(complaints, f"The host page did not answer within {patience:g} seconds: is this machine very busy?")
        ) from None
    except Error as error:
        raise DemoError(
            _with(complaints, f"The host page did not answer: {error.message.splitlines()[0].rstrip('.')}.")
        ) from error


async def _read_off(
    page: Page, page_url: str, arguments: dict[str, object], screenshot: Path | None, complaints: list[str]
) -> Answer:
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda got: complaints.append(f"{got.status} for {got.url}") if got.status >= 400 else None)
    crashed = asyncio.Event()
    page.on("crash", lambda _: crashed.set())
    crash = asyncio.ensure_future(crashed.wait())
    reading = asyncio.ensure_future(_read(page, page_url, arguments, screenshot, complaints))
    try:
        await asyncio.wait({reading, crash}, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():  # Playwright keeps waiting in a page that has crashed
            raise DemoError(_with(complaints, "The host page has crashed: is there enough memory?"))
        return reading.result()
    finally:
        for task in (reading, crash):
            task.cancel()
        await asyncio.wait({reading, crash}, timeout=_CLOSE_TIMEOUT)


async def _read(
    page: Page, page_url: str, arguments: dict[str, object], screenshot: Path | None, complaints: list[str]
) -> Answer:
    await page.goto(page_url)
    await page.wait_for_selector('html:not([data-state="connecting"])')
    if await page.get_attribute("html", "data-state") != "ready":
        raise DemoError(_with(complaints, await page.inner_text("#status")))
    tools = await page.eval_on_selector_all("[data-tool]", "cards => cards.map(card => card.dataset.tool)")
    card = page.locator(f'[data-tool="{TOOL}"]')
    for name, value in arguments.items():
        await card.locator(f'[name="{name}"]').fill(str(value))
    await card.get_by_role("button", name="Call").click()
    result = card.locator('.result[data-state="done"], .result[data-state="failed"]')
    await result.wait_for()
    structured = await result.locator("> details > pre").all_text_contents()
    text = "\n".join(await result.locator("> pre").all_text_contents())
    if await result.get_attribute("data-state") == "failed":
        raise DemoError(_with(complaints, f"{TOOL} failed: {text}"))
    if screenshot is not None:
        await page.screenshot(path=screenshot, full_page=True)
    return Answer(tools, text, json.loads(structured[0]) if structured else None)


def _with(complaints: list[str], message: str) -> str:
    # The last line of a traceback is its message; the same complaint may be repeated.
    lines = list(dict.fromkeys(complaint.strip().splitlines()[-1] for complaint in complaints if complaint.strip()))[:3]
    return f"{message} The console says: {' | '.join(lines)}" if lines else message
