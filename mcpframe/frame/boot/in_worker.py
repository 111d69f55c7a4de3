"""Workers with Python: the composition of both halves."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import open_storage
from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.serving.server_module import server_module

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader
    from mcpframe.frame.serving.framed import SessionFacts

BUNDLED_WITH = ("worker", "processes")

log = logging.getLogger("mcpframe")


async def server(config: BootConfig, loader: Loader, in_page: Callable[[], Awaitable[Any]]) -> Any:
    """Return the server, once its worker has begun: the page shakes hands while Python starts there.

    Args:
        config: the boot config.
        loader: the loader's callbacks.
        in_page: returns the server for a page that can have no worker.
    """
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker.supervisor import Supervisor
    from mcpframe.frame.worker.worker_server import NoWorker, WorkerServer

    def computing(tools: tuple[str, ...], seconds: float) -> None:
        loader.computing(json.dumps({"tools": tools, "seconds": seconds}))

    supervisor = Supervisor(grace=config.grace, limits=config.tool_timeout)
    worker_server = WorkerServer(
        partial(workers.start, loader, "server"), supervisor, on_problem=loader.problem, on_computing=computing
    )
    try:
        await worker_server.begun()
    except NoWorker as error:
        log.warning("The server runs in the page, and a tool that computes will block it: %s", error)
        return await in_page()
    workers.offer_stop(loader, worker_server.stop)
    return worker_server


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


def _never_hidden(act: Callable[[], None]) -> Callable[[], None]:
    """Register nothing, as a worker does not learn that its page is hidden."""
    return lambda: None


async def serve(target: Any, config: BootConfig, port: Any) -> None:
    """Serve the clients of the page, until it ends this worker.

    Args:
        target: the author's server.
        config: the boot config.
        port: see `boot.main_in_worker`.
    """
    from mcpframe.frame.browser import workers
    from mcpframe.frame.worker.port import text_of
    from mcpframe.frame.worker.worker_half import WorkerHalf
    from mcpframe.frame.worker.worker_session import running_for

    servers = server_module(config.program, target)
    open_kept = partial(open_storage, is_kept=port.is_kept)

    def on_problem(title: str, error: BaseException | None) -> None:
        program.problem(title, "".join(traceback.format_exception(error)) if error else "")

    async def serve_one(read: Any, write: Any, experimental: Mapping[str, Any], about: SessionFacts | None) -> None:
        async with files_of(about, read, write) as streams:
            with running_for(target, about, open_kept):
                await servers.serve(target, *streams, experimental=dict(experimental), on_problem=on_problem)

    def files_of(about: SessionFacts | None, read: Any, write: Any) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        if not config.persist or about is None:
            return nullcontext((read, write))
        from mcpframe.frame.boot.page_files import keeping_files

        return keeping_files(
            config.persist, about.id, (read, write), servers.messages(), program.problem, open_kept, _never_hidden
        )

    program = WorkerHalf(serve_one, servers.messages(), port.post)
    workers.listen(port, program.take)
    facts = {"browser": target.browser} if isinstance(target, Framed) else {}
    port.post(text_of("ready", facts))
    await asyncio.get_running_loop().create_future()
