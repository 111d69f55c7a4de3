"""The development server: a project in a host page on two origins, built anew whenever one of its files changes.

A rebuild is a draft (see `build`): the page compiles and imports the author's files itself, and host pages have it at
once. Where none of them connects to it, it is built once more, as it would be published: that says why, with the line.
Where files do not compile here, the build in Pyodide has the last word, as this machine's Python may be older.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import watchfiles
from starlette.types import ASGIApp

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ConfigError, PortTaken
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle import build
from mcpframe.kit.bundle.collect import author_files
from mcpframe.kit.dev.reload_channel import DevChannel, WithChannel
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.host_page import copy_host_modules
from mcpframe.kit.web.serve import FRAMED_HOST, Served, serve_app
from mcpframe.kit.web.site import Site

#: Where a host page finds the channel, at its own origin.
STATE_PATH = "/dev-state"

# Used when they are free and none is given: what the browser keeps for a page belongs to its origin.
_PAGE_PORT, _SERVER_PORT = 8720, 8721
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src {origin}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_STEP = 30  # milliseconds without a change that end a group of changes
_PATIENCE = 3.0  # seconds for a page to connect: a build at the same time would take it the processor
_IGNORED = ("dist", "mcpframe-results", "mcpframe.lock")

Told = Callable[[McpFrameError | None, float], None]
"""Called after each rebuild with its error and its seconds; again where the server turns out not to start."""


class DevServer:
    """A project that is being served for development.

    Attributes:
        url: The host page's address.
        channel: What host pages are told through.
        first_error: What was wrong with the first build; None where nothing was.
        server_url: The address of the server's page; None before there is a build.
    """

    first_error: McpFrameError | None = None
    server_url: str | None = None

    def __init__(
        self, path: Path, scratch: Path, page: Served, server: Served, channel: DevChannel, also: tuple[str, ...]
    ):
        """Made by `serve_dev`."""
        self.url = f"{page.origin}/"
        self.channel = channel
        self._path = path
        self._out, self._proofs = scratch / "out", scratch / "proofs"
        self._unproved = 0
        self._server = server
        self._origins = [page.origin, *also]
        self._stop = threading.Event()

    def rebuild(self, progress: Progress = silent) -> McpFrameError | None:
        """Build what has changed, and tell the host pages. Returns the error, where there is one."""
        try:
            problem = self._syntax_error()
            if problem:
                self.channel.publish(error=problem)  # at once: a build that is no draft takes seconds
            before = self.server_url
            built = build(
                self._path, self._out, allowed_origins=self._origins, draft=problem is None, progress=progress
            )
        except McpFrameError as error:
            self.channel.publish(error=str(error))
            return error
        self.server_url = f"{self._server.origin}/{built.url_path}"
        self.channel.publish(url=self.server_url)
        # The first one is whole, whatever it is called, and so is one that this Python cannot read.
        self._unproved = self.channel.built if before and problem is None else 0
        return None

    def prove(self, number: int) -> McpFrameError | None:
        """Unless a page is connected to a build, build as it would be published, and tell where it does not start.

        Args:
            number: Which build: nothing is told where there is a newer one.

        Returns:
            The error that was told.
        """
        if self.channel.runs(number, _PATIENCE) or self._stop.is_set():
            return None
        try:
            build(self._path, self._proofs, allowed_origins=self._origins, snapshot=False)
        except McpFrameError as error:
            return error if self.channel.publish(error=str(error), of=number) else None
        return None

    def watch(self, told: Told) -> None:
        """Rebuild on every change, until `stop`.

        Args:
            told: Called after each rebuild, and where the server turns out not to start; from two threads.
        """
        folder = self._path if self._path.is_dir() else self._path.parent
        changes = watchfiles.watch(
            folder.resolve(), watch_filter=_Sources(folder), step=_STEP, stop_event=self._stop, raise_interrupt=True
        )
        with ThreadPoolExecutor(1, "prove") as prover:
            try:
                for _ in changes:
                    start = time.monotonic()
                    error = self.rebuild()
                    told(error, time.monotonic() - start)
                    if error is None and self._unproved:
                        proof = prover.submit(self.prove, self._unproved)
                        proof.add_done_callback(lambda done, start=start: self._tell(done, told, start))  # type: ignore[misc]
            finally:
                self._stop.set()
                prover.shutdown(cancel_futures=True)

    @staticmethod
    def _tell(proof: Future[McpFrameError | None], told: Told, start: float) -> None:
        if not proof.cancelled() and (error := proof.result()):
            told(error, time.monotonic() - start)

    def stop(self) -> None:
        """End `watch`."""
        self._stop.set()

    def _syntax_error(self) -> str | None:
        """What this machine's Python says of the author's files."""
        project = find_project(self._path)
        for path, data in author_files(project, self._out).items():
            if path.endswith(".py"):
                try:
                    ast.parse(data, path)
                except SyntaxError as error:
                    return f"{project.source / path}, line {error.lineno}: {error.msg}."
                except ValueError as error:  # null bytes
                    return f"{project.source / path}: {error}."
        return None


class _Sources(watchfiles.DefaultFilter):
    """Everything but what tools write: caches, environments, builds, editors' own files."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder.resolve()

    def __call__(self, change: watchfiles.Change, path: str) -> bool:
        parts = Path(os.path.relpath(path, self._folder)).parts
        return not any(part.endswith(_IGNORED) for part in parts) and super().__call__(change, path)


@contextmanager
def serve_dev(
    path: Path,
    *,
    port: int = 0,
    also: tuple[str, ...] = (),
    channel: DevChannel | None = None,
    progress: Progress = silent,
) -> Iterator[DevServer]:
    """Serve a project and a host page around it, on two sites, for as long as the block lasts.

    The first build is made before the block starts; an error of the author's is told in the page, like later ones.

    Args:
        path: The project, as for `build`.
        port: The port of the host page; 0 takes the usual one, or a free one.
        also: Further origins that may frame the server.
        channel: Told about every build; by default one that only this host page hears.
        progress: Told about long steps.

    Raises:
        ConfigError: There is no project, or it is a page and no server.
        PortTaken: Another program listens on the port.
    """
    check_path(path)
    with ExitStack() as stack:
        temporary = stack.enter_context(scratch("dev"))
        folder, out = temporary / "page", temporary / "out"
        out.mkdir()
        folder.mkdir()
        channel = channel or DevChannel()
        page = _serve(stack, WithChannel(Site(folder, readers=()), STATE_PATH, channel), port, _PAGE_PORT)
        server = _serve(stack, Site(out, readers=[page.origin, *also]), 0, _SERVER_PORT, FRAMED_HOST)
        _write_page(folder, server.origin, channel)
        stack.callback(channel.close)
        dev = DevServer(path, temporary, page, server, channel, also)
        stack.callback(dev.stop)
        dev.first_error = dev.rebuild(progress)
        yield dev


def check_path(path: Path) -> None:
    """Raise `ConfigError` where there is no server to work on; what is wrong with one that is there, the page tells.

    Raises:
        ConfigError: There is no project, or it is a page and no server.
    """
    is_project = path.suffix in (".py", ".toml") and path.is_file()
    there = is_project or any((path / name).is_file() for name in ("pyproject.toml", "server.py"))
    try:
        project = find_project(path)
    except McpFrameError:
        if there:
            return  # something in it is wrong, and may be mended meanwhile
        raise
    if project.config.kind == "page":
        raise ConfigError(f"{path} is a page and no server: build it, and open it with mcpframe serve.")


def _write_page(folder: Path, server: str, channel: DevChannel) -> None:
    policy = _POLICY.format(origin=server)
    (folder / "_headers").write_text(
        f"/*\n  Content-Security-Policy: {policy}\n  Referrer-Policy: no-referrer\n", "utf-8"
    )
    (folder / "config.json").write_text(json.dumps({"state": f"{STATE_PATH[1:]}?{channel.query}"}), "utf-8")
    copy_host_modules(folder)
    shutil.copytree(static_dir() / "dev", folder, dirs_exist_ok=True)


def _serve(stack: ExitStack, app: ASGIApp, port: int, usual: int, host: str = "127.0.0.1") -> Served:
    try:
        return stack.enter_context(serve_app(app, port or usual, host))
    except PortTaken:
        if port:
            raise
        return stack.enter_context(serve_app(app, host=host))
