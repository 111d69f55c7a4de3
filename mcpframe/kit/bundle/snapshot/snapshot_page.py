"""The page of a build: the bundle in memory, served on a loopback address, in a headless Chromium."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.base.errors import ChromiumMissing
from mcpframe.kit.browser.chromium import find_chromium, launch_options
from mcpframe.kit.bundle.page.scripts import SNAPSHOT_MAKER, snapshot_maker_script
from mcpframe.kit.bundle.snapshot.boot import PATIENCE, SILENCE, boot_of, changed, file_entry, neutral, with_boot
from mcpframe.kit.bundle.snapshot.memory import DECODER
from mcpframe.kit.bundle.snapshot.outcome import MOST_BYTES, check_memory, checked
from mcpframe.kit.web.serve import serve_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright

_SENT = ("start", "memory")
_MOST_HEARD = 10_000
_IMPORTS = "mcpframe: imports"  # as in in_pyodide/prepare_snapshot.py
_FAILED = "mcpframe: the page has failed"
_SAY_FAILURE = f"""
addEventListener("DOMContentLoaded", () => {{
  const page = document.getElementById("mcpframe-page");
  const look = () => page.dataset.state === "failed" && console.log({_FAILED!r});
  if (page) new MutationObserver(look).observe(page, {{ attributes: true }});
}});
"""
_AGENT = "a build of mcpframe"
_BEFORE_PYTHON = ("pyodide", "asm", "wasm", "libraries", "env", "lock")
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css",
    "json": "application/json",
    "wasm": "application/wasm",
}


class NoBrowser(Exception):
    """No browser was found, or it does not start; the message has the remedy."""


class NoOutcome(Exception):
    """Transient: the browser crashed, or the page did not start, did not answer in time, or sent invalid data."""


class PythonEnded(NoOutcome):
    """Python has ended in the page."""


class PageTimeout(NoOutcome):
    """The page did not answer in time. The message names the module that it imports."""


class Stopped(Exception):
    """The caller has stopped waiting for the browser."""


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
    def _site(self) -> _Site:
        site = _Site()
        site.origin = self._stack.enter_context(serve_app(site)).origin
        return site

    def show(self, page: _Page) -> str:
        """Serve a page in place of the previous one, and return the origin."""
        self._site.page = page
        return self._site.origin

    def close(self) -> None:
        """End the browser and Playwright. They may have ended already, as Ctrl-C reaches them, too."""
        from playwright.sync_api import Error

        with suppress(Error):
            self._stack.close()


class OpenedBundle:
    """A bundle whose page is opened in the browser.

    Attributes:
        bundle: The files, by path. The page names no real host, so one snapshot fits all allowed origins.
        name: The bundle's folder.
        chromium: The browser.
    """

    def __init__(self, bundle: Mapping[str, bytes], name: str, chromium: Chromium) -> None:
        index = f"{name}/index.html"
        self.bundle = {**bundle, index: neutral(bundle[index])}
        self.name = name
        self.chromium = chromium

    @property
    def version(self) -> str:
        """The browser's name and version."""
        return f"Chromium {self.chromium.browser.version}"

    def before_python(self, *, own: bool) -> list[bytes]:
        """Return all inputs of the memory before Python runs: the scripts, and their configuration of Python.

        Args:
            own: Whether to include the author's requirements.
        """
        config = boot_of(self.bundle[f"{self.name}/index.html"])
        files = changed(config, {}, own=own)["files"]
        page_config = {part: files[part] for part in _BEFORE_PYTHON}
        scripts = [path for path in sorted(self.bundle) if path.startswith("_mcpframe/") and path.endswith(".js")]
        return [json.dumps(page_config).encode(), *(self.bundle[path] for path in scripts)]

    def run(
        self,
        job: Mapping[str, Any],
        *,
        own: bool,
        snapshot: tuple[bytes, Mapping[str, Any]] | None = None,
        patience: float = PATIENCE,
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Open the page and run a job of static/build/snapshot-maker.js in it.

        Args:
            own: Whether to include the author's files and requirements.
            snapshot: The snapshot to restore, and its entry in the boot config.
            patience: The time limit of the job, in seconds, once it has begun; the page's start has one of its own.

        Returns:
            The outcome, and the memory images that the page sent, by name, for `memory.whole`.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
            PythonEnded: Python has ended, or does not start.
            PageTimeout: The page did not answer in time.
            NoOutcome: The browser crashed, or the page sent invalid data.
            Stopped: The caller has stopped waiting.
        """
        from playwright.sync_api import Error

        app = _Page(self.bundle, self.name, job, own=own, snapshot=snapshot)
        origin = self.chromium.show(app)
        heard: list[str] = []
        has_failed = False
        importing, limit = "", PATIENCE
        deadline = time.monotonic() + limit

        def hear(message: ConsoleMessage) -> None:
            nonlocal has_failed, importing, limit, deadline
            if job["step"] == "take" and message.text.startswith(_IMPORTS):
                importing = message.text.removeprefix(_IMPORTS).strip()
                limit = SILENCE if importing else PATIENCE
                deadline = time.monotonic() + limit
                return
            has_failed = has_failed or message.text == _FAILED
            if message.text != _FAILED:
                heard[:] = [*heard[-9:], message.text[:_MOST_HEARD]]

        try:
            page = self.chromium.page_for(own=own)
            page.on("console", hear)
            page.goto(f"{origin}/{self.name}/index.html")
            has_begun = False
            while not app.done.wait(0.02):
                if self.chromium.is_stopped.is_set():
                    raise Stopped
                page.wait_for_timeout(20)  # the page itself is not asked: it may be busy for ever
                if has_failed:
                    raise PythonEnded(heard[-1] if heard else "it says nothing")
                if app.begun.is_set() and not has_begun:
                    has_begun, limit = True, patience
                    deadline = time.monotonic() + limit
                if time.monotonic() > deadline:
                    where = f" while it imports {importing}" if importing else ""
                    raise PageTimeout(f"it does not answer in {limit:g} seconds{where}")
            page.remove_listener("console", hear)
            return app.said(), app.sent
        except NoOutcome:
            self.chromium.forget()
            raise
        except Error as error:
            self.chromium.forget()
            raise NoOutcome(str(error)) from error


class _Site:
    """The ASGI application. It serves one page after another, as restarting a web server is slow.

    Attributes:
        page: The current page.
        origin: The origin of the web server.
    """

    page: _Page
    origin: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        await self.page(scope, receive, send)


class _Page:
    """The ASGI application of one page: it serves the bundle's files and the job, and receives the outcome."""

    def __init__(
        self,
        bundle: Mapping[str, bytes],
        name: str,
        job: Mapping[str, Any],
        *,
        own: bool,
        snapshot: tuple[bytes, Mapping[str, Any]] | None,
    ) -> None:
        self.begun = threading.Event()
        self.done = threading.Event()
        self._outcome = b""
        self.sent: dict[str, bytes] = {}
        maker = snapshot_maker_script()
        files: dict[str, Any] = {"snapshot_maker": file_entry(SNAPSHOT_MAKER, maker)}
        self._files = {f"/{path}": data for path, data in bundle.items()}
        self._files[f"/{name}/{SNAPSHOT_MAKER}"] = maker
        self._files[f"/{name}/job.json"] = json.dumps(job).encode()
        if snapshot is not None:
            data, header = snapshot
            self._files[f"/{name}/snapshot.bin"] = data
            decoder = (page_dir() / DECODER).read_bytes()
            self._files[f"/{name}/{DECODER}"] = decoder
            files["snapshot"] = {
                **file_entry("snapshot.bin", data),
                "decoder": file_entry(DECODER, decoder),
                **header,
            }
        index = f"/{name}/index.html"
        self._files[index] = with_boot(self._files[index], lambda boot: changed(boot, files, own=own))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        request = Request(scope, receive)
        path = request.url.path
        if request.method == "POST" and not _is_from_its_page(request):
            response = Response(status_code=403)
        elif request.method == "POST":
            response = Response(status_code=await self._take(path.rpartition("/")[2], request))
        elif path in self._files:
            kind = _TYPES.get(path.rpartition(".")[2], "application/octet-stream")
            response = Response(self._files[path], media_type=kind)
        else:
            response = Response(status_code=404)
        await response(scope, receive, send)

    async def _take(self, name: str, request: Request) -> int:
        """Store the page's data, up to its outcome, and return the HTTP status of the response."""
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return 413
        if name == "begun":
            self.begun.set()
            return 204
        if self.done.is_set() or name not in ("outcome", *_SENT):
            return 409
        if name == "outcome":
            self._outcome = bytes(body)
            self.done.set()
        else:
            self.sent[name] = bytes(body)
        return 204

    def said(self) -> dict[str, Any]:
        """Return the outcome that the page sent.

        Raises:
            NoOutcome: It is not one of static/build/snapshot-maker.js.
        """
        try:
            outcome = checked(json.loads(self._outcome))
            for memory in self.sent.values():
                check_memory(memory)
        except (ValueError, RecursionError) as error:
            raise NoOutcome(str(error)) from error
        return outcome


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


def _is_from_its_page(request: Request) -> bool:
    """Return whether the request is from the page itself: any page on this machine can post to a loopback port."""
    server = request.scope["server"]
    host = f"{server[0]}:{server[1]}"
    return request.headers.get("host") == host and request.headers.get("origin") == f"http://{host}"
