"""Take a snapshot of Python's memory with all imports for serving, for pages to start from.

A headless Chromium opens the page to publish, served by this process on a loopback address, with a script of the build
in it (static/build/snapshot-maker.js, in_pyodide/prepare_snapshot.py). A snapshot is published, so it must not contain
secrets or anything of this machine: the page has no real clock, randomness or environment. If the import of the
author's module uses one of these, or creates state outside of memory, the snapshot is taken before that import. Every
snapshot is restored once, as a check, before it is used.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FuturesTimeout
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.page_scripts import snapshot_maker_script
from mcpframe.kit.bundle.assembly.snapshot_file import AUTHOR, SDK, Snapshot
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.pyodide.job import Outcome
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.snapshot.boot import PATIENCE
from mcpframe.kit.bundle.snapshot.build_browser import Chromium, NoBrowser
from mcpframe.kit.bundle.snapshot.build_site import NoOutcome
from mcpframe.kit.bundle.snapshot.memory import sparse, whole
from mcpframe.kit.bundle.snapshot.snapshot_page import OpenedBundle, PageTimeout, PythonEnded

_FactsAndData = tuple[dict[str, Any], bytes]

_FORMAT = "9"
"""Increase it when this module or `memory` writes the same inputs differently: the key of the cache has the rest."""
_UNMENTIONED = 0.3  # seconds: a shorter step needs no line of its own
_MOST_SHOWN = 500  # characters
_ENV = {"PYTHONHASHSEED": "0"}
_PROGRAMS = ("prepare_snapshot", "rehearse")


@dataclass(frozen=True)
class Server:
    """The properties of the author's server that a snapshot depends on.

    Attributes:
        name: The bundle's folder.
        entry: `module:object`, or `module:factory()`.
        kind: `server` or `page`.
        tools: Its tools, if known.
        settings: The environment of the author's code; see `Project.settings`.
    """

    name: str
    entry: str
    kind: str
    tools: tuple[dict[str, Any], ...] | None
    settings: Mapping[str, Any] = field(default_factory=lambda: {"args": [], "env": {}})


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

    def take(self, server: Server, assets: Iterable[Asset], layers: Sequence[str] = (AUTHOR, SDK)) -> Taken:
        """Take the best possible snapshot. Then the browser ends in the background, unless the camera is reused.

        Args:
            assets: The bundle without a snapshot.
            layers: The layers to try, the best first.
        """
        taking = self._thread.submit(_take, self._opened(assets, server.name), server, layers)
        if not self._reused:
            self._thread.submit(self._chromium.close)
        return taking.result()

    def run(
        self,
        program: str,
        name: str,
        assets: Iterable[Asset],
        *,
        own: bool,
        env: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        patience: float = PATIENCE,
    ) -> Outcome:
        """Run a program of `in_pyodide` in the page of a bundle, started from a snapshot of the SDK if there is one.

        Args:
            program: Its name, without `.py`.
            name: The bundle's folder.
            assets: The bundle.
            own: Whether the page has the author's files.
            env: Environment variables of the program.
            files: Its files in `/in`, by name; it may write others to `/out`.
            patience: Its time limit, in seconds.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
            PageTimeout: It took too long.
            PythonEnded: It ended Python, or raised.
            NoOutcome: The browser crashed twice, or the page sent invalid data twice.
        """
        page = self._opened(assets, name)
        work: Future[Outcome] = self._thread.submit(_run, page, program, own, env or {}, files, patience)
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
    # Playwright needs a thread without an event loop; the caller's may have one.
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
    program: str,
    own: bool,
    env: Mapping[str, str],
    files: Mapping[str, bytes] | None,
    patience: float,
) -> Outcome:
    kept = _path(browser, None)
    header, data = _unpack(kept.read_bytes()) if kept.is_file() else ({"reason": "none is taken yet"}, b"")
    snapshot = None if "reason" in header else (data, _entry(header, SDK))
    job = {
        "step": "run",
        "restores": snapshot is not None,
        "name": f"{program}.py",
        "program": job_text(program),
        "env": dict(env),
        "files": None if files is None else {name: base64.b64encode(each).decode() for name, each in files.items()},
    }
    try:
        outcome, _ = browser.run(job, own=own, snapshot=snapshot, patience=patience)
    except (PageTimeout, PythonEnded):
        raise
    except NoOutcome:  # as for `_layer`
        outcome, _ = browser.run(job, own=own, snapshot=snapshot, patience=patience)
    if "failure" in outcome:
        raise PythonEnded(outcome["failure"])
    try:
        results = {name: base64.b64decode(each, validate=True) for name, each in outcome.get("files", {}).items()}
        return Outcome(json.loads(outcome["result"]), results)
    except (KeyError, ValueError, RecursionError) as error:
        raise NoOutcome("its page sends an outcome that the build does not expect") from error


def _take(browser: OpenedBundle, server: Server, layers: Sequence[str]) -> Taken:
    reason = "it may change at any time"  # if the author's layer was not tried
    final = True
    try:
        for layer in layers:
            try:
                snapshot, failure = _layer(browser, server, layer)
            except NoOutcome as error:
                snapshot, failure, final = None, f"the page for it fails ({_first_line(str(error))})", False
            if snapshot is not None and layer == AUTHOR:
                return Taken(snapshot, "starts from a snapshot with the server imported")
            if snapshot is not None:
                description = f"starts from a snapshot of the SDK; the server is imported in each page, as {reason}"
                return Taken(snapshot, description, final)
            reason = failure
        return Taken(None, f"starts without a snapshot: {reason}", final)
    except NoBrowser as error:
        return Taken(None, f"starts without a snapshot, which takes longer: {error}", final=False)


def _layer(browser: OpenedBundle, server: Server, layer: str) -> tuple[Snapshot | None, str]:
    """Return one layer's snapshot, from the cache if possible; or the reason for its absence."""
    own = layer == AUTHOR
    path = _path(browser, server if own else None)
    if not path.is_file():
        try:
            taken = _take_layer(browser, server, own=own)
        except PageTimeout:
            raise
        except NoOutcome:  # browsers crash and machines stall now and then
            taken = _take_layer(browser, server, own=own)
        write_file(path, _pack(taken))
    header, data = _unpack(path.read_bytes())
    if "reason" in header:
        return None, header["reason"]
    return Snapshot(data, layer, **header), ""


def _path(browser: OpenedBundle, server: Server | None) -> Path:
    """Return the path in the cache of the snapshot with a server, or of the SDK's if that is None."""
    identity = [SDK]
    if server is not None:
        identity = [AUTHOR, server.entry, server.kind, json.dumps(server.settings), json.dumps(server.tools)]
    inputs = (_FORMAT, browser.chromium.identity, "".join(map(job_text, _PROGRAMS)), snapshot_maker_script())
    files = [(path, data) for path, data in sorted(browser.bundle.items()) if server or path.startswith("_mcpframe/")]
    contents = cache_key(*(part for file in files for part in file))
    return cached("snapshots", cache_key(*inputs, *identity)[:32] + contents[:32])


def _entry(header: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """Return the entry of a snapshot in the boot config; `boot.changed` completes it."""
    return {**header, "layer": layer}


def _take_layer(browser: OpenedBundle, server: Server, *, own: bool) -> _FactsAndData:
    job = {
        "program": job_text(_PROGRAMS[0]),
        "rehearsal": job_text(_PROGRAMS[1]),
        "env": _ENV,
        "entry": server.entry if own else None,
        "kind": server.kind,
        "settings": json.dumps(server.settings),
    }
    before, start = _start(browser, own=own)
    if reason := _failure(before):
        return {"reason": reason}, b""
    outcome, sent = browser.run({**job, "step": "take", "drawnOrTimed": before["drawnOrTimed"]}, own=own)
    if reason := _reason(outcome):
        return {"reason": reason}, b""
    memory = whole(sent["memory"])
    data, unpacked = sparse(memory, start, {"table": outcome["table"]}, own=frozenset(outcome["own"]))
    header = {
        "unpacked": unpacked,
        "build": outcome["build"],
        "references": outcome["references"],
        "modules": outcome["found"]["modules"],
        "made_with": browser.version,
    }
    entry = _entry(header, AUTHOR if own else SDK)
    tried, _ = browser.run({**job, "step": "check"}, own=own, snapshot=(data, entry))
    if reason := _failure(tried, "a restored page"):
        return {"reason": reason}, b""
    if own and server.tools is not None and tried["tools"] != list(server.tools):
        return {"reason": "its tools differ once it is restored"}, b""
    return header, data


def _start(browser: OpenedBundle, *, own: bool) -> tuple[dict[str, Any], bytes]:
    """Return the page's outcome and the memory before Python runs, which do not depend on the author's files.

    They are cached for each browser, runtime and set of libraries.
    """
    path = cached(
        "starts",
        cache_key(_FORMAT, browser.chromium.identity, snapshot_maker_script(), *browser.before_python(own=own)),
    )
    if not path.is_file():
        outcome, sent = browser.run({"step": "start"}, own=own)
        if "failure" in outcome:
            return outcome, b""
        write_file(path, _pack((outcome, sent["start"])))
    outcome, memory = _unpack(path.read_bytes())
    return outcome, whole(memory)


def _failure(outcome: Mapping[str, Any], page: str = "the page for it") -> str:
    """Return the reason why a page failed, as half a sentence; empty if it did not."""
    return f"{page} fails ({_first_line(outcome['failure'])})" if "failure" in outcome else ""


def _reason(outcome: Mapping[str, Any]) -> str:
    """Return the reason why there is no snapshot, as half a sentence; empty if there is one."""
    if failure := _failure(outcome):
        return failure
    found = outcome["found"]
    if "waits" in found:
        return "it waits for time to pass before it lists its tools"
    if error := found["error"]:
        return f"its import raises {_first_line(error['what'])} there"
    if asked := found["asked"]:
        where = f"{_first_line(asked['file'])}, line {asked['line']}," if "file" in asked else "it"
        if "library" in asked:
            where += f" imports or calls {_first_line(asked['library'])}, which"
        return f"{where} asks for {_described(asked['what'])} when it is imported"
    if found["tasks"]:
        return "it starts tasks when it is imported"
    if found["written"]:
        return f"it writes {_first_line(found['written'][0])} when it is imported"
    if found["opened"]:
        return f"it keeps {_first_line(found['opened'][0])} open"
    if "callbacks" in found:
        return "it keeps functions that native code calls, as ctypes makes them, when it is imported"
    if "held" in found:
        return "it holds JavaScript objects when it is imported"
    return ""


def _described(what: str) -> str:
    what = _first_line(what)
    return f"the browser ({what})" if what.startswith("js.") else what


def _first_line(text: str) -> str:
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    at = -1 if lines and lines[0].startswith("Traceback") else 0  # there the error is the last one
    return visible((lines or ["it says nothing"])[at].rstrip("."))[:_MOST_SHOWN]


def _pack(taken: tuple[dict[str, Any], bytes]) -> bytes:
    header, data = taken
    head = json.dumps(header).encode()
    return len(head).to_bytes(4, "big") + head + data


def _unpack(packed: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(packed[:4], "big")
    return json.loads(packed[4 : 4 + length]), packed[4 + length :]
