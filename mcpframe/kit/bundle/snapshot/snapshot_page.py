"""The page of a build: the bundle, opened in the build's browser to run one job."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from posixpath import join, normpath
from typing import Any

from mcpframe.kit.browser.devtools.driven_page import ConsoleLine
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, SERVER, Snapshot
from mcpframe.kit.bundle.snapshot.boot import PATIENCE, changed, neutral
from mcpframe.kit.bundle.snapshot.build_browser import FAILED, BuildPage, Chromium
from mcpframe.kit.bundle.snapshot.build_site import JobPage, NoOutcome
from mcpframe.kit.bundle.snapshot.time_limits import TimeLimits
from mcpframe.kit.bundle.wasm.data import written_by

_MOST_HEARD = 10_000
_INTERVAL = 0.02
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
        return f"Chromium {self.chromium.version}"

    def later(self, bases: Mapping[str, int]) -> list[range]:
        """Return the addresses of memory that the second files write.

        Args:
            bases: Where the data of each library begins, by the address of its second file in the page.
        """
        files = boot_of(self.bundle[f"{self.name}/index.html"])["files"]
        seconds = [entry["second"]["url"] for entry in (files["wasm"], *files["libraries"]) if "second" in entry]
        return [
            range(base + each.start, base + each.stop)
            for url, base in ((url, bases[url]) for url in seconds if url in bases)
            for each in written_by(self.bundle[normpath(join(self.name, url))])
        ]

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
        app = JobPage(self.bundle, self.name, job, layer=layer, snapshot=snapshot)
        origin = self.chromium.show(app)
        try:
            page = self.chromium.page_for(own=layer in (PACKAGES, SERVER))
            follower = Follower(app, names_imports=job["step"] == "take", patience=patience)
            self.chromium.run(self._followed(page, f"{origin}/{self.name}/index.html", follower))
            return app.said(), app.sent
        except NoOutcome as error:
            error.begun = app.begun.is_set()
            self.chromium.forget()
            raise
        except PageGone as error:
            self.chromium.forget()
            raise NoOutcome(str(error)) from error

    async def _followed(self, page: BuildPage, url: str, follower: Follower) -> None:
        """Load the page, and follow it until it has sent its outcome."""
        page.on_console = follower.hear
        loading = asyncio.ensure_future(page.navigate(url))
        try:
            while not follower.app.done.is_set():
                if self.chromium.is_stopped.is_set():
                    raise Stopped
                if loading.done():
                    loading.result()
                if page.gone.done():
                    raise PageGone(page.gone.result())
                follower.check()
                await asyncio.sleep(_INTERVAL)  # the page itself is not asked: it may be busy for ever
        finally:
            loading.cancel()
            page.on_console = lambda _: None


class Follower:
    """The reports of a page that runs its job, and how long it may still take."""

    def __init__(self, app: JobPage, *, names_imports: bool, patience: float) -> None:
        self.app = app
        self._names_imports = names_imports
        self._patience = patience
        self._heard: list[str] = []
        self._has_failed = self._has_begun = False
        self._limits = TimeLimits()

    def hear(self, line: ConsoleLine) -> None:
        """Take a line of the page's console."""
        if line.kind == "uncaught":
            return
        if self._names_imports and line.text.startswith(_IMPORTS):
            self._limits.imports(line.text.removeprefix(_IMPORTS).strip())
        elif line.text == FAILED:
            self._has_failed = True
        else:
            self._heard[:] = [*self._heard[-9:], line.text[:_MOST_HEARD]]

    def check(self) -> None:
        """Raise `PythonEnded` or `PageTimeout`."""
        if self._has_failed:
            raise PythonEnded(self._heard[-1] if self._heard else "it says nothing")
        if self.app.begun.is_set() and not self._has_begun:
            self._has_begun = True
            self._limits.allow(self._patience)
        if late := self._limits.overdue():
            raise PageTimeout(late)
