"""The browser: profiles, host pages in them, and what their frames can be asked from outside."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Error, Frame, Page, Playwright

from mcpframe.kit.base.errors import KitError
from mcpframe.kit.browser.chromium import launch_options

PATIENCE = 180_000
"""How long anything may take, in milliseconds."""


class BenchmarkError(KitError):
    """A page did not answer, or answered wrongly: there is nothing to measure."""


@dataclass(frozen=True)
class BenchmarkBrowser:
    """A Chromium to open profiles with.

    Attributes:
        playwright: Playwright, started.
        chromium: The browser's program.
    """

    playwright: Playwright
    chromium: Path

    @contextlib.contextmanager
    def profile(
        self, *, features: str = "", flags: Sequence[str] = (), folder: Path | None = None
    ) -> Iterator[BrowserContext]:
        """Start the browser with a profile of its own, empty and on disk, as a person's is.

        Args:
            features: Features of the browser to switch on.
            flags: More options of its command line.
            folder: Where the profile is; None for a folder that is removed afterwards.
        """
        options = launch_options(self.chromium)
        options["args"] += [*flags, *([f"--enable-features={features}"] if features else [])]
        with tempfile.TemporaryDirectory(prefix="mcpframe-profile-", ignore_cleanup_errors=True) as own:
            context = self.playwright.chromium.launch_persistent_context(str(folder or own), **options)
            context.set_default_timeout(PATIENCE)
            try:
                yield context
            finally:
                context.close()

    def version(self) -> str:
        """The browser's version."""
        with self.profile() as context, host_page(context, "about:blank") as host:
            session = context.new_cdp_session(host.page)
            product: str = session.send("Browser.getVersion")["product"]
            return product.rpartition("/")[2]


class HostPage:
    """A host page, and what its console complains about.

    Args:
        page: The page.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self._complaints: dict[str, None] = {}  # each once
        page.on("console", lambda message: self._note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._note(str(error)))

    def _note(self, complaint: str) -> None:
        self._complaints[complaint] = None

    def bench(self, method: str, *arguments: object) -> Any:
        """Call a method of the page's `bench`.

        Raises:
            BenchmarkError: It failed; the message has what the console says.
        """
        try:
            return self.page.evaluate("([method, args]) => bench[method](...args)", [method, list(arguments)])
        except Error as error:
            heard = f" (console: {' | '.join(self._complaints)})" if self._complaints else ""
            raise BenchmarkError(f"{error.message.splitlines()[0]}{heard}") from error

    def frame(self, url: str) -> Frame:
        """The frame with this address."""
        return next(frame for frame in self.page.frames if frame.url == url)


@contextlib.contextmanager
def host_page(context: BrowserContext, url: str) -> Iterator[HostPage]:
    """Open the host page in a new tab."""
    page = context.new_page()
    try:
        host = HostPage(page)
        page.goto(url)
        page.wait_for_load_state("load")
        yield host
    finally:
        page.close()


def script_memory(context: BrowserContext, frame: Frame) -> int:
    """The bytes in use on the JavaScript heap of a frame's process, after collecting garbage."""
    session = context.new_cdp_session(frame)
    try:
        session.send("HeapProfiler.enable")
        for _ in range(2):  # what finalizers let go of is collected the second time
            session.send("HeapProfiler.collectGarbage")
        used: int = round(session.send("Runtime.getHeapUsage")["usedSize"])
        return used
    finally:
        session.detach()
