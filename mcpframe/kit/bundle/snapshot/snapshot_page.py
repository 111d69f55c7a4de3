"""The page of a build: the bundle, opened in the build's browser to run one job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any

from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, SERVER, Snapshot
from mcpframe.kit.bundle.snapshot.boot import PATIENCE, changed, neutral
from mcpframe.kit.bundle.snapshot.build_browser import FAILED, Chromium
from mcpframe.kit.bundle.snapshot.build_site import JobPage, NoOutcome
from mcpframe.kit.bundle.snapshot.time_limits import TimeLimits
from mcpframe.kit.bundle.wasm.data import written_by

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage

_MOST_HEARD = 10_000
_IMPORTS = "mcpframe: imports"  # as in in_pyodide/prepare_snapshot.py
_BEFORE_PYTHON = ("pyodide", "asm", "wasm", "libraries", "env", "lock")


class PythonEnded(NoOutcome):
    """Python has ended in the page."""


class PageTimeout(NoOutcome):
    """The page did not answer in time. The message names the module that it imports."""


class Stopped(Exception):
    """The caller has stopped waiting for the browser."""


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

    @property
    def later(self) -> list[range]:
        """The addresses of memory that the second file of Python's module writes."""
        second = boot_of(self.bundle[f"{self.name}/index.html"])["files"]["wasm"].get("second")
        return written_by(self.bundle[normpath(join(self.name, second["url"]))]) if second else []

    def before_python(self, *, layer: str) -> list[bytes]:
        """Return all inputs of the memory before Python runs: the scripts, and their configuration of Python.

        Args:
            layer: The layer whose page it is.
        """
        files = self._files(layer=layer)
        page_config = {part: files[part] for part in _BEFORE_PYTHON}
        scripts = [path for path in sorted(self.bundle) if path.startswith("_mcpframe/") and path.endswith(".js")]
        return [json.dumps(page_config).encode(), *(self.bundle[path] for path in scripts)]

    def inputs(self, *, layer: str) -> list[bytes]:
        """Return all inputs of the memory of a page.

        Args:
            layer: The layer whose page it is.
        """
        if layer == SERVER:
            return [part for path, data in sorted(self.bundle.items()) for part in (path.encode(), data)]
        return [json.dumps(self._files(layer=layer)).encode()]  # it has the hash of each

    def _files(self, *, layer: str) -> dict[str, Any]:
        config = boot_of(self.bundle[f"{self.name}/index.html"])
        files: dict[str, Any] = changed(config, {}, layer=layer)["files"]
        return files

    def run(
        self,
        job: Mapping[str, Any],
        *,
        layer: str,
        snapshot: Snapshot | None = None,
        patience: float = PATIENCE,
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Open the page and run a job of static/build/snapshot-maker.js in it.

        Args:
            layer: The layer whose files the page has.
            snapshot: The snapshot to restore.
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

        app = JobPage(self.bundle, self.name, job, layer=layer, snapshot=snapshot)
        origin = self.chromium.show(app)
        heard: list[str] = []
        has_failed = False
        limits = TimeLimits()

        def hear(message: ConsoleMessage) -> None:
            nonlocal has_failed
            if job["step"] == "take" and message.text.startswith(_IMPORTS):
                limits.imports(message.text.removeprefix(_IMPORTS).strip())
                return
            has_failed = has_failed or message.text == FAILED
            if message.text != FAILED:
                heard[:] = [*heard[-9:], message.text[:_MOST_HEARD]]

        try:
            page = self.chromium.page_for(own=layer in (PACKAGES, SERVER))
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
                    has_begun = True
                    limits.allow(patience)
                if late := limits.overdue():
                    raise PageTimeout(late)
            page.remove_listener("console", hear)
            return app.said(), app.sent
        except NoOutcome as error:
            error.begun = app.begun.is_set()
            self.chromium.forget()
            raise
        except Error as error:
            self.chromium.forget()
            raise NoOutcome(str(error)) from error
