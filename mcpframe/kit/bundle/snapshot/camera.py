"""Take a snapshot of Python's memory with all imports for serving, for pages to start from.

A headless Chromium opens the page to publish, served by this process on a loopback address, with a script of the build
in it (static/build/snapshot-maker.js, in_pyodide/prepare_snapshot.py). A snapshot is published, so it must not contain
secrets or anything of this machine: the page has no real clock, randomness or environment. If the import of the
author's module uses one of these, or creates state outside of memory, the snapshot is taken before that import: it has
the SDK's layer only (see `layers`). Every snapshot is restored once, as a check, before it is used.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FuturesTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.snapshot_file import PACKAGES, SDK, SERVER, Snapshot
from mcpframe.kit.bundle.pyodide.job import Outcome
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.snapshot.boot import PATIENCE
from mcpframe.kit.bundle.snapshot.build_browser import Chromium, NoBrowser
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.layers import NoLayer, SnapshotLayer, layers_of, sdk_in_cache
from mcpframe.kit.bundle.snapshot.reasons import first_line
from mcpframe.kit.bundle.snapshot.snapshot_page import OpenedBundle, PageTimeout, PythonEnded

_UNMENTIONED = 0.3  # seconds: a shorter step needs no line of its own


@dataclass(frozen=True)
class Taken:
    """The outcome of taking a snapshot.

    Attributes:
        snapshot: The snapshot, or None.
        description: One line about it for the author.
        final: Whether another attempt would have the same outcome.
    """

    snapshot: Snapshot | None
    description: str
    final: bool = True


class Camera:
    """The browser of a build, in a thread of its own: it runs programs in the bundle's page, and takes its snapshot."""

    def __init__(self, thread: ThreadPoolExecutor, chromium: Chromium, *, reused: bool) -> None:
        self._thread = thread
        self._chromium = chromium
        self._reused = reused

    @property
    def identity(self) -> str:
        """A string that differs between browsers, and changes when the browser is updated.

        Raises:
            NoBrowser: No browser is installed; the message has the remedy.
        """
        return self._chromium.identity

    def prepare(self) -> None:
        """Start the browser in the background. If that fails, the next use reports it."""
        self._thread.submit(self._chromium.page)

    def take(self, name: str, assets: Iterable[Asset], layers: Sequence[SnapshotLayer]) -> Taken:
        """Take the best possible snapshot. Then the browser ends in the background, unless the camera is reused.

        Args:
            name: The bundle's folder.
            assets: The bundle without a snapshot.
            layers: The layers to try, the best first.
        """
        taking = self._thread.submit(_take, self._opened(assets, name), layers)
        if not self._reused:
            self._thread.submit(self._chromium.close)
        return taking.result()

    def run(
        self,
        programs: Sequence[str],
        name: str,
        assets: Iterable[Asset],
        *,
        own: bool,
        env: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        patience: float = PATIENCE,
    ) -> list[Outcome]:
        """Run programs of `in_pyodide` in the page of a bundle, started from a snapshot of the SDK if there is one.

        Args:
            programs: Their names, without `.py`: one, or one that finds nothing of the author's and then another one.
            name: The bundle's folder.
            assets: The bundle.
            own: Whether the page has the author's files.
            env: Environment variables of the last program.
            files: Files of the first one in `/in`, by name; it may write others to `/out`. Only it has these folders.
            patience: The time limit of the last one, in seconds.

        Returns:
            The outcome of each.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
            PageTimeout: It took too long.
            PythonEnded: It ended Python, or raised.
            NoOutcome: The browser crashed twice, or the page sent invalid data twice.
        """
        page = self._opened(assets, name)
        work: Future[list[Outcome]] = self._thread.submit(_run, page, programs, own, env or {}, files, patience)
        return work.result()

    def _opened(self, assets: Iterable[Asset], name: str) -> OpenedBundle:
        return OpenedBundle({item.path: item.data for item in assets}, name, self._chromium)


@contextmanager
def camera(progress: Progress = silent, *, reused: bool = False) -> Iterator[Camera]:
    """Return a `Camera`. Its browser has ended when the block ends, also on an error.

    Args:
        progress: Reports the wait for that.
        reused: Whether it is for several builds. They share a page, and with it the compiled code of the runtime, so
            their authors have to trust each other.
    """
    chromium = Chromium(is_shared=reused)
    # The browser has an event loop of its own, and the caller's thread may have one.
    with ThreadPoolExecutor(1, "snapshot") as thread:
        try:
            yield Camera(thread, chromium, reused=reused)
        finally:
            chromium.is_stopped.set()
            closing = thread.submit(chromium.close)
            try:
                closing.result(_UNMENTIONED)
            except FuturesTimeout:
                with progress("Closing the browser"):
                    closing.result()


def _run(
    browser: OpenedBundle,
    programs: Sequence[str],
    own: bool,
    env: Mapping[str, str],
    files: Mapping[str, bytes] | None,
    patience: float,
) -> list[Outcome]:
    snapshot = sdk_in_cache(browser)
    *earlier, last = programs
    job = {
        "step": "run",
        "restores": snapshot is not None,
        "first": _program(earlier[0], {}, files) if earlier else None,
        **_program(last, env, None if earlier else files),
    }
    try:
        outcome, _ = browser.run(job, layer=SERVER if own else SDK, snapshot=snapshot, patience=patience)
    except (PageTimeout, PythonEnded):
        raise
    except NoOutcome:  # as for `layers_of`
        outcome, _ = browser.run(job, layer=SERVER if own else SDK, snapshot=snapshot, patience=patience)
    if "failure" in outcome:
        ended = PythonEnded(outcome["failure"])
        ended.begun = "first" in outcome
        raise ended
    try:
        return [_outcome(each) for each in ([outcome["first"]] if earlier else []) + [outcome]]
    except (KeyError, ValueError, RecursionError) as error:
        raise NoOutcome("its page sends an outcome that the build does not expect") from error


def _program(name: str, env: Mapping[str, str], files: Mapping[str, bytes] | None) -> dict[str, Any]:
    """Return a program as static/build/snapshot-maker.js gets it."""
    encoded = None if files is None else {path: base64.b64encode(data).decode() for path, data in files.items()}
    return {"name": f"{name}.py", "program": job_text(name), "env": dict(env), "files": encoded}


def _outcome(sent: Mapping[str, Any]) -> Outcome:
    files = {name: base64.b64decode(data, validate=True) for name, data in sent.get("files", {}).items()}
    return Outcome(json.loads(sent["result"]), files)


def _take(browser: OpenedBundle, layers: Sequence[SnapshotLayer]) -> Taken:
    reason = "it may change at any time"  # if the server's layer was not tried
    final = True
    try:
        for layer in layers:
            try:
                snapshot = layers_of(browser, layer)
            except NoLayer as error:
                reason = str(error)
                continue
            except NoOutcome as error:
                reason, final = f"the page for it fails ({first_line(str(error))})", False
                continue
            if snapshot.has_server:
                return Taken(snapshot, "starts from a snapshot with the server imported")
            of = "the SDK and its requirements" if snapshot.top.name == PACKAGES else "the SDK"
            description = f"starts from a snapshot of {of}; the server is imported in each page, as {reason}"
            return Taken(snapshot, description, final)
        return Taken(None, f"starts without a snapshot: {reason}", final)
    except NoBrowser as error:
        return Taken(None, f"starts without a snapshot, which takes longer: {error}", final=False)
