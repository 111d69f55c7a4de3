"""The browsers of a soak of framed servers: each runs the script of its page, and counts what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Page

from tests.browser.conftest import chromium, new_profile
from tests.browser.firefox import Firefox, ensure_firefox, running
from tests.soak import processes

Figures = dict[str, float]
"""Counts and megabytes, by what they are."""

WORKERS = "workers"


class Rig(Protocol):
    """A browser with one tab."""

    async def open(self, url: str) -> None:
        """Open a page."""

    async def run(self, script: str) -> Any:
        """Run the body of an async function in it."""

    async def figures(self) -> Figures:
        """Return what it holds after collecting garbage: the number of workers, and whatever else it tells."""


class ChromiumRig:
    """A page of a Chromium, by Playwright and DevTools."""

    def __init__(self, page: Page) -> None:
        """Use this page."""
        self._page = page

    async def open(self, url: str) -> None:
        """Open a page."""
        await self._page.goto(url)

    async def run(self, script: str) -> Any:
        """Run the body of an async function in it."""
        return await self._page.evaluate(f"async () => {{ {script} }}")

    async def figures(self) -> Figures:
        """Return the workers, the memory of the page and of its frames, and their objects that are handles."""
        page = self._page
        found = {WORKERS: float(len(page.workers))}
        for name, frame in zip(("the host", "the server's page", "the pool's page"), page.frames, strict=False):
            session = await page.context.new_cdp_session(frame)
            try:
                await session.send("HeapProfiler.enable")
                for _ in range(2):  # objects that finalizers release are collected the second time
                    await session.send("HeapProfiler.collectGarbage")
                usage = await session.send("Runtime.getHeapUsage")
                found[f"MB of JavaScript heap in {name}"] = usage["usedSize"] / 2**20
                found[f"MB of WebAssembly memory and buffers in {name}"] = usage["backingStorageSize"] / 2**20
                await session.send("Performance.enable")
                metrics = {
                    each["name"]: each["value"] for each in (await session.send("Performance.getMetrics"))["metrics"]
                }
                found[f"nodes and listeners in {name}"] = metrics["Nodes"] + metrics["JSEventListeners"]
            finally:
                await session.detach()
        return found | system_figures("DedicatedWorker")


class FirefoxRig:
    """A Firefox, by WebDriver BiDi, its memory reporters included."""

    def __init__(self, firefox: Firefox) -> None:
        """Use its tab."""
        self._firefox = firefox

    async def open(self, url: str) -> None:
        """Open a page."""
        await asyncio.to_thread(self._firefox.open, url)

    async def run(self, script: str) -> Any:
        """Run the body of an async function in it."""
        return await asyncio.to_thread(self._firefox.run, script)

    async def figures(self) -> Figures:
        """Return the workers and the memory of all processes, as about:memory has them."""
        found: Figures = await asyncio.to_thread(self._firefox.run_privileged, _MEMORY)
        return found | system_figures()


_MEMORY = r"""
const manager = Cc["@mozilla.org/memory-reporter-manager;1"].getService(Ci.nsIMemoryReporterManager);
for (let round = 0; round < 2; round++) {
  Services.obs.notifyObservers(null, "child-mmu-request"); // garbage is collected in all processes
  await new Promise((resolve) => manager.minimizeMemoryUsage(resolve));
}
const workers = new Set();
const found = {};
const add = (what, amount) => (found[what] = (found[what] ?? 0) + amount / 2 ** 20);
const note = (process, path, kind, units, amount) => {
  const name = process.match(/https?:\/\/(host|bundle)\.localhost/)?.[1];
  if (!name) return;
  const where = name === "host" ? "the host" : "the servers' pages";
  const worker = path.match(/^explicit\/workers\/workers\([^)]*\)\/worker\([^)]*\)/)?.[0];
  if (worker) workers.add(worker);
  else if (path.startsWith("js-main-runtime-gc-heap-committed/used/")) add(`MB of JavaScript heap in ${where}`, amount);
  else if (!path.startsWith("explicit/") || name === "host") return;
  else if (path.endsWith("/elements/wasm")) add(`MB of WebAssembly memory in ${where}`, amount);
  else if (path.endsWith("/elements/array-buffer")) add(`MB of buffers in ${where}`, amount);
};
await new Promise((resolve) => manager.getReports(note, null, resolve, null, false));
return { ...found, workers: workers.size };
"""


def system_figures(thread: str = "") -> Figures:
    """Return the figures of the browser's processes, and the number of threads; none where the system does not say."""
    found = processes.browser_processes()
    if not found:
        return {}
    figures = {"MB of all processes": processes.resident(found), "open files": float(processes.open_files(found))}
    return figures | ({"threads of workers": float(processes.threads(found, thread))} if thread else {})


@asynccontextmanager
async def chromium_rig(folder: Path) -> AsyncIterator[Rig]:
    """Run a Chromium for the duration of the block."""
    async with chromium() as browser, new_profile(browser) as context:
        yield ChromiumRig(await context.new_page())


@asynccontextmanager
async def firefox_rig(folder: Path) -> AsyncIterator[Rig]:
    """Run a Firefox for the duration of the block."""
    program = ensure_firefox()
    assert program, "no Firefox is installed, and none could be: install firefox-esr"
    firefox = running(program, folder, "--remote-allow-system-access")
    opened = await asyncio.to_thread(firefox.__enter__)
    try:
        yield FirefoxRig(opened)
    finally:
        await asyncio.to_thread(firefox.__exit__, None, None, None)


RIGS = {"chromium": chromium_rig, "firefox": firefox_rig}
