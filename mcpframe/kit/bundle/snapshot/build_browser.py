"""The headless Chromium of a build, which reaches nothing but the build's own web server."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcpframe.kit.base.errors import ChromiumMissing
from mcpframe.kit.browser.chromium import find_chromium, launch_options
from mcpframe.kit.bundle.snapshot.build_site import BuildSite, JobPage
from mcpframe.kit.web.serve import serve_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

FAILED = "mcpframe: the page has failed"
"""The message in the console of a page that shows an error in place of its server."""
_SAY_FAILURE = f"""
addEventListener("DOMContentLoaded", () => {{
  const page = document.getElementById("mcpframe-page");
  const look = () => page.dataset.state === "failed" && console.log({FAILED!r});
  if (page) new MutationObserver(look).observe(page, {{ attributes: true }});
}});
"""
_AGENT = "a build of mcpframe"


class NoBrowser(Exception):
    """No browser was found, or it does not start; the message has the remedy."""


class Chromium:
    """The browser of a build. It starts on first use, and belongs to one thread, as Playwright does."""

    def __init__(self, *, is_shared: bool = False) -> None:
        """Create it without starting the browser.

        Args:
            is_shared: Whether all authors whose code runs in it trust each other.
        """
        self._is_shared = is_shared
        self._has_run_authors = False
        self.is_stopped = threading.Event()  # set by any thread
        self._stack = ExitStack()
        self._page: Page | None = None

    @cached_property
    def program(self) -> Path:
        """The browser's program.

        Raises:
            NoBrowser: None is installed; the message has the remedy.
        """
        try:
            program = find_chromium()
        except ChromiumMissing as error:
            raise NoBrowser(str(error)) from error
        if program is None:
            raise NoBrowser("install Chromium or Chrome, or set MCPFRAME_CHROMIUM to its program")
        return program

    @property
    def identity(self) -> str:
        """A string that differs between browsers, and changes when the browser is updated."""
        found = self.program.stat()
        return f"{self.program} {found.st_size} {found.st_mtime_ns}"

    @property
    def browser(self) -> Browser:
        """The running browser.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
        """
        if not self._started.is_connected():
            del self._started
        return self._started

    @cached_property
    def _started(self) -> Browser:
        from playwright.sync_api import Error

        program = self.program
        try:
            options = launch_options(program)
            options["args"] += _only(self._site.origin)
            browser = self._playwright.chromium.launch(**options)
        except Error as error:
            raise NoBrowser(f"{program} does not start ({str(error).splitlines()[0]})") from error
        self._stack.callback(browser.close)
        return browser

    @cached_property
    def _playwright(self) -> Playwright:
        from playwright.sync_api import sync_playwright

        return self._stack.enter_context(sync_playwright())

    def page_for(self, *, own: bool) -> Page:
        """Return the page for a step, without any state that an author's module left, unless the step is the author's.

        Args:
            own: Whether the author's code runs in it.
        """
        if self._has_run_authors and not own and not self._is_shared:
            self.forget()
        self._has_run_authors = self._has_run_authors or own
        return self.page()

    def page(self) -> Page:
        """Return the page, shared by all steps: its process caches compiled code for the next step.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
        """
        if self._page is None:
            self._page = self._opened()
        return self._page

    def forget(self) -> None:
        """Close the page with all its state."""
        from playwright.sync_api import Error

        page, self._page, self._has_run_authors = self._page, None, False
        if page is not None:
            with suppress(Error):
                page.context.close()

    def _opened(self) -> Page:
        # Neutral settings: values that a page reads from its browser are in memory afterwards.
        context = self.browser.new_context(
            locale="en-US", timezone_id="UTC", user_agent=_AGENT, viewport={"width": 800, "height": 600}
        )
        context.add_init_script(_SAY_FAILURE)
        return context.new_page()

    @cached_property
    def _site(self) -> BuildSite:
        site = BuildSite()
        site.origin = self._stack.enter_context(serve_app(site)).origin
        return site

    def show(self, page: JobPage) -> str:
        """Serve a page in place of the previous one, and return the origin."""
        self._site.page = page
        return self._site.origin

    def close(self) -> None:
        """End the browser and Playwright. They may have ended already, as Ctrl-C reaches them, too."""
        from playwright.sync_api import Error

        with suppress(Error):
            self._stack.close()


def _only(origin: str) -> list[str]:
    """Return Chromium's arguments for a browser that can reach one origin only.

    The page runs the author's code. All requests but those to its own server, and name lookups, go to a nonexistent
    proxy.
    """
    return [
        "--proxy-server=http://127.0.0.1:9",  # the port `discard`, which no browser connects to
        f"--proxy-bypass-list=<-loopback>;{origin.partition('://')[2]}",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    ]
