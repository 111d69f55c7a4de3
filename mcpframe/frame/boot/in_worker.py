"""Workers with Python: the composition of both halves."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import open_storage
from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader
    from mcpframe.frame.serving.framed import SessionFacts

BUNDLED_WITH = ("worker", "processes")

log = logging.getLogger("mcpframe")


async def server(config: BootConfig, loader: Loader, in_page: Callable[[], Awaitable[Any]]) -> Any:
    """Return the server, once its worker is ready; None if it has failed there, which is shown.

    Args:
        config: the boot config.
        loader: the loader's callbacks.
        in_page: returns the server for a page that can have no worker.
    """
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker.supervisor import Supervisor
    from mcpframe.frame.worker.worker_server import NoWorker, WorkerFailed, WorkerServer

    def computing(tools: tuple[str, ...], seconds: float) -> None:
        loader.computing(json.dumps({"tools": tools, "seconds": seconds}))

    supervisor = Supervisor(grace=config.grace, limits=config.tool_timeout)
    found = WorkerServer(
        partial(workers.start, loader, "server"), supervisor, on_problem=loader.problem, on_computing=computing
    )
    try:
        await found.ready()
    except NoWorker as error:
        log.warning("The server runs in the page, and a tool that computes will block it: %s", error)
        return await in_page()
    except WorkerFailed as error:
        loader.fail(str(error), error.detail)
        return None
    workers.offer_stop(loader, found.stop)
    return found


def use_processes(loader: Loader) -> None:
    """Let the author's code start processes: see `worker.pool`."""
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker import pool

    pool.use(partial(workers.start, loader, "process"), workers.processors())


async def run_functions(port: Any) -> None:
    """Run the functions of the page, until it ends this worker."""
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker.job import FunctionRunner
    from mcpframe.frame.worker.port import text_of

    workers.listen(port, FunctionRunner(port.post).take)
    port.post(text_of("ready"))
    await asyncio.get_running_loop().create_future()


async def serve(target: Any, config: BootConfig, port: Any) -> None:
    """Serve the clients of the page, until it ends this worker.

    Args:
        target: the author's server.
        config: the boot config.
        port: see `boot.main_in_worker`.
    """
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker.port import text_of
    from mcpframe.frame.worker.program import Program
    from mcpframe.frame.worker.worker_session import running_for

    servers = server_module(config.program, target)

    def on_problem(title: str, error: BaseException | None) -> None:
        program.problem(title, "".join(traceback.format_exception(error)) if error else "")

    async def serve_one(read: Any, write: Any, experimental: Mapping[str, Any], about: SessionFacts | None) -> None:
        with running_for(target, about, partial(open_storage, is_kept=port.is_kept)):
            await servers.serve(target, read, write, experimental=dict(experimental), on_problem=on_problem)

    program = Program(serve_one, servers.messages(), port.post)
    workers.listen(port, program.take)
    facts = {"browser": target.browser} if isinstance(target, Framed) else {}
    port.post(text_of("ready", facts))
    await asyncio.get_running_loop().create_future()
