"""The development server: serves a project and its host page on two origins, and rebuilds it when a file changes.

A rebuild is a draft (see `build`): the page itself compiles and imports the author's files, so host pages get it at
once. If no host page can connect to it, a full build finds the error and its line. A syntax error in this machine's
Python is not final, as it may be older than Pyodide's: the build decides.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import watchfiles
from starlette.types import ASGIApp

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.dialects.available import dialect
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.progress import Progress, labelled, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.author_files import author_files, sample_call
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.reload_channel import DevChannel, WithChannel
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.source_file import project_file
from mcpframe.kit.web.host_page import copy_host_modules
from mcpframe.kit.web.serve import FRAMED_HOST, Served, serve_app, serve_at
from mcpframe.kit.web.site import Site

#: The path of the channel, at the host page's origin.
STATE_PATH = "/dev-state"

# Used if no port is given and they are free: the data that a browser stores for a page belongs to its origin.
_PAGE_PORT, _SERVER_PORT = 8720, 8721
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src {origin}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_STEP = 30  # milliseconds without a change after which a group of changes is complete
_PATIENCE = 3.0  # seconds for a page to connect; a build during this time would slow it down
_IGNORED = ("dist", "mcpframe-results", "mcpframe.lock")

Report = Callable[[McpFrameError | None, float], None]
"""Called after each rebuild with its error and duration in seconds, and again if the server then does not start."""


class DevServer:
    """A project served for development.

    Attributes:
        url: The host page's address.
        channel: The channel that reports builds to host pages.
        first_error: The error of the first build; None if there was none.
        server_url: The address of the server's page; None before there is a build.
        sample: The tool call to show in that page as a view; None for none.
    """

    first_error: McpFrameError | None = None
    server_url: str | None = None
    sample: Mapping[str, object] | None = None

    def __init__(
        self, path: Path, scratch: Path, page: Served, server: Served, channel: DevChannel, also: tuple[str, ...]
    ):
        """Created by `serve_dev`."""
        self.url = f"{page.origin}/"
        self.channel = channel
        self._path = path
        self._out, self._earlier, self._proofs = (scratch / name for name in ("out", "earlier", "proofs"))
        self._unproved = 0
        self._server = server
        self._preview: dict[str, Any] = {"allowed_origins": [page.origin, *also], "dialects": [dialect().name]}
        self._stop = threading.Event()

    def rebuild(self, progress: Progress = silent) -> McpFrameError | None:
        """Build the project and report it to the host pages. Return the error, if there is one."""
        try:
            problem = self._syntax_error()
            if problem:
                self.channel.publish(error=problem)  # before the build, as one that is not a draft takes seconds
            before = self.server_url
            keep_files(self._out, self._earlier)
            built = build(self._path, self._out, **self._preview, draft=problem is None, progress=progress)
            self.sample = sample_call(find_project(self._path))
        except McpFrameError as error:
            self.channel.publish(error=str(error))
            return error
        self.server_url = f"{self._server.origin}/{built.url_path}"
        self.channel.publish(url=self.server_url)
        # Not drafts, so nothing to prove: the first build, and one with a syntax error in this Python.
        self._unproved = self.channel.built if before and problem is None else 0
        return None

    def prove(self, number: int) -> McpFrameError | None:
        """Unless a page connects to a build, make a full build, and report why it does not start.

        Args:
            number: The number of the build; nothing is reported if there is a newer one.

        Returns:
            The error that was reported.
        """
        if self.channel.runs(number, _PATIENCE) or self._stop.is_set():
            return None
        try:
            build(self._path, self._proofs, **self._preview, snapshot=False)
        except McpFrameError as error:
            return error if self.channel.publish(error=str(error), of=number) else None
        return None

    def watch(self, report: Report) -> None:
        """Rebuild on every change, until `stop`.

        Args:
            report: Called after each rebuild, and again if the server then does not start; from two threads.
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
                    report(error, time.monotonic() - start)
                    if error is None and self._unproved:
                        proof = prover.submit(self.prove, self._unproved)
                        proof.add_done_callback(lambda done, start=start: self._report(done, report, start))  # type: ignore[misc]
            finally:
                self._stop.set()
                prover.shutdown(cancel_futures=True)

    @staticmethod
    def _report(proof: Future[McpFrameError | None], report: Report, start: float) -> None:
        if not proof.cancelled() and (error := proof.result()):
            report(error, time.monotonic() - start)

    def stop(self) -> None:
        self._stop.set()

    def _syntax_error(self) -> str | None:
        """Return the first syntax error of the author's files, according to this machine's Python."""
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
    """Accepts all files except those that tools write: caches, environments, builds, temporary files of editors."""

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
    """Serve a project and a host page around it, on two sites, for the duration of the block.

    The first build is made before the block starts; its errors are shown in the page, like later ones.

    Args:
        path: The project, as for `build`.
        port: The port of the host page; 0 for the usual one, or else a free one.
        also: Additional origins that may frame the server.
        channel: Reports every build; by default one for this host page only.
        progress: Reports long steps.

    Raises:
        ConfigError: There is no project, or it is a page, not a server.
        PortTaken: Another program listens on the port.
    """
    check_path(path)
    with ExitStack() as stack:
        temporary = stack.enter_context(scratch("dev"))
        folder, out = temporary / "page", temporary / "out"
        earlier = temporary / "earlier"
        for each in (folder, out, earlier):
            each.mkdir()
        channel = channel or DevChannel()
        page = _serve(stack, WithChannel(Site(folder, readers=()), STATE_PATH, channel), port, _PAGE_PORT)
        server = _serve(stack, Site(out, readers=[page.origin, *also], earlier=earlier), 0, _SERVER_PORT, FRAMED_HOST)
        _write_page(folder, server.origin, channel)
        stack.callback(channel.close)
        dev = DevServer(path, temporary, page, server, channel, also)
        stack.callback(dev.stop)
        dev.first_error = dev.rebuild(labelled("The server", progress))
        yield dev


def keep_files(out: Path, earlier: Path) -> None:
    """Keep the files of an output root before the next build, for pages that are still fetching them.

    Args:
        out: The output root.
        earlier: The folder for the files; it keeps those of the last build only.
    """
    current = {file.relative_to(out) for file in out.rglob("*") if file.is_file()}
    for file in [file for file in earlier.rglob("*") if file.is_file()]:
        if file.relative_to(earlier) not in current:
            file.unlink()
    for name in current:
        kept = earlier / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)
        os.link(out / name, kept)  # no copy is needed: a build replaces its files, and changes none


def check_path(path: Path) -> None:
    """Raise `ConfigError` if the path has no server. Errors in an existing server are shown in the page instead.

    Raises:
        ConfigError: There is no project, or it is a page, not a server.
    """
    project_file(path)
    try:
        project = find_project(path)
    except McpFrameError:
        return  # its author may correct the error while the server is served
    project.check_server()


def _write_page(folder: Path, server: str, channel: DevChannel) -> None:
    policy = _POLICY.format(origin=server)
    (folder / "_headers").write_text(
        f"/*\n  Content-Security-Policy: {policy}\n  Referrer-Policy: no-referrer\n", "utf-8", newline="\n"
    )
    (folder / "config.json").write_text(
        json.dumps({"state": f"{STATE_PATH[1:]}?{channel.query}"}), "utf-8", newline="\n"
    )
    copy_host_modules(folder)
    shutil.copytree(static_dir() / "dev", folder, dirs_exist_ok=True)


def _serve(stack: ExitStack, app: ASGIApp, port: int, usual: int, host: str = "127.0.0.1") -> Served:
    return stack.enter_context(serve_app(app, port, host)) if port else serve_at(stack, app, usual, host)
