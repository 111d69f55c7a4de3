"""Serves a project in this process, or in several that uvicorn starts and replaces."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.edges.http.endpoint import serve_until_cancelled
from mcpframe.kit.plain_python.options import PlainOptions
from mcpframe.kit.plain_python.own_environment import needs_own_environment
from mcpframe.kit.plain_python.process import ServingProcess, running
from mcpframe.kit.plain_python.serve_program import serve_program
from mcpframe.kit.project.project import find_server
from mcpframe.kit.web.serve import http_settings, listen

_GRACE_SECONDS = 10
"""Seconds for a worker that ends to answer its open requests."""
_HEALTH_SECONDS = 30
"""Seconds that a worker may compute without a pause, before it counts as hung and is replaced."""


def serve_python(
    options: PlainOptions, port: int, listening: Callable[[str], None], progress: Progress = silent
) -> None:
    """Serve until a signal.

    Args:
        port: The port; 0 takes a free one.
        listening: Called with the server's address once it listens.
        progress: Called with a description of each step before that.

    Raises:
        ServeError: As by `PlainOptions.check`, or a process has failed.
        ConfigError: As by `PlainOptions.check`, and by `running`.
        PortTaken: Another program listens on the port.
    """
    options.check()
    project = find_server(options.project)
    is_apart = needs_own_environment(project)
    if is_apart and options.workers > 1:
        raise ServeError(
            f"The server of {project.file} has a process for each of its sessions already: serve it without --workers."
        )
    with listen(options.access.host, port) as listener:
        address = options.access.address(listener.getsockname()[1])
        if is_apart:
            serve_program(project, options.access, listener, lambda: listening(address), progress)
        elif options.workers == 1:
            asyncio.run(_serve_here(options, listener, lambda: listening(address)))
        else:
            _serve_in_workers(options, listener, lambda: listening(address))


async def _serve_here(options: PlainOptions, listener: socket.socket, listening: Callable[[], None]) -> None:
    with ended_by_signals():
        async with running(options) as app:
            listening()
            await serve_until_cancelled(app, listener, None)


class _Workers(Multiprocess):
    """uvicorn's worker processes.

    Args:
        listening: Called once one of them serves.
    """

    def __init__(self, config: uvicorn.Config, listener: socket.socket, listening: Callable[[], None]) -> None:
        super().__init__(config, [listener])
        self._listening: Callable[[], None] | None = listening

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        if self._listening and any(process.is_ready(timeout=1) for process in self.processes):
            self._listening()
            self._listening = None


def _serve_in_workers(options: PlainOptions, listener: socket.socket, listening: Callable[[], None]) -> None:
    if sys.platform == "win32":
        raise ServeError("Several processes need Unix sockets: on Windows, serve with one, or in WSL.")
    with tempfile.TemporaryDirectory(prefix="mcpframe-") as meeting:  # only this user can read it
        settings = http_settings(ServingProcess(replace(options, meeting=Path(meeting))))
        settings.lifespan = "on"
        settings.workers = options.workers
        settings.timeout_graceful_shutdown = _GRACE_SECONDS
        settings.timeout_worker_healthcheck = _HEALTH_SECONDS
        workers = _Workers(settings, listener, listening)
        workers.run()
        if any(process.exitcode == STARTUP_FAILURE for process in workers.processes):
            raise ServeError("The server cannot be started, for the reason above.")
