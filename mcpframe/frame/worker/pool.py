"""Processes of Python in a page: `anyio.to_process`, and the class `ProcessPoolExecutor`, in workers.

A worker starts from the bundle's own files, so it has the author's modules. The function and its arguments are pickled,
and so is the result. Output of the function, and records of its loggers, are those of the task that waits for it. A
worker is ended if that task is cancelled, and after it has had nothing to do for a while; each of the others continues.

A worker's start takes longer than many a function, so a second one starts beside each, ahead of need.
"""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import logging
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Final

import anyio
import anyio.lowlevel
import anyio.to_process
from anyio import BrokenWorkerProcess, CapacityLimiter

from mcpframe.frame.waiting.clock import LoopClock
from mcpframe.frame.worker.job import Returned, initialized
from mcpframe.frame.worker.port import read, text_of
from mcpframe.frame.worker.worker_server import NoWorker, RunningWorker, StartWorker

log = logging.getLogger(__name__)

IDLE_SECONDS: Final = 60.0
"""How long a worker may have nothing to do."""

_pool: Pool | None = None


class Pool:
    """The workers of a page that run functions."""

    def __init__(self, start: StartWorker, most: int) -> None:
        """Begin without a worker.

        Args:
            start: starts one.
            most: the most functions that run at once by default: the number of processors.
        """
        self.most = most
        self._start = start
        self._idle: list[_Process] = []
        self._running = 0
        self._limiter: CapacityLimiter | None = None
        self._warned = False

    async def run(
        self, func: Callable[..., Any], *args: Any, cancellable: bool = False, limiter: CapacityLimiter | None = None
    ) -> Any:
        """Call a function in a worker; see `anyio.to_process.run_sync`."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        request = base64.b64encode(pickle.dumps((func, args), pickle.HIGHEST_PROTOCOL)).decode()
        if limiter is None:
            limiter = self._limiter = self._limiter or CapacityLimiter(self.most)
        async with limiter:
            self._running += 1
            process = self._take()
            try:
                with anyio.CancelScope(shield=not cancellable):
                    outcome = await process.run(request)
            except NoWorker as error:
                if not self._warned:
                    self._warned = True
                    log.warning("Functions for processes run in the page, and block it: %s", error)
                return func(*args)
            except BaseException:
                process.end()
                raise
            finally:
                self._running -= 1
            self._keep(process)
        return outcome.get()

    def _take(self) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if not process.is_over:
                return process
            process.end()
        return self._start_two()

    def _start_two(self) -> _Process:
        """Start a process, and another one ahead of need if there is a processor for it."""
        process = _Process(self._start)
        if self._running < self.most:
            self._keep(_Process(self._start))
        return process

    def _keep(self, process: _Process) -> None:
        self._idle.append(process)

        def end() -> None:
            if process in self._idle:
                self._idle.remove(process)
                process.end()

        process.rests(end)


class _Process:
    def __init__(self, start: StartWorker) -> None:
        self._texts: asyncio.Queue[str | Exception] = asyncio.Queue()
        self._stop_timer: Callable[[], None] = lambda: None
        self._ready = False
        self.is_over = False
        self._worker: RunningWorker = start(self._texts.put_nowait, self._ended)

    def _ended(self, title: str, detail: str, begun: bool) -> None:
        if not begun:
            self._texts.put_nowait(NoWorker(title))
            return
        self.is_over = True
        error = BrokenWorkerProcess(title)
        if detail:
            error.add_note(detail)
        self._texts.put_nowait(error)

    async def run(self, request: str) -> Returned:
        self._stop_timer()
        while not self._ready:
            await self._next()
        self._worker.post(text_of("run", message=request))
        while True:
            kind, fields, message = await self._next()
            if kind == "done":
                outcome: Returned = pickle.loads(base64.b64decode(message))  # noqa: S301  of our own worker
                return outcome
            if kind == "printed":
                print(fields[0])
            elif kind == "complained":
                print(fields[0], file=sys.stderr)
            elif kind == "logged":
                name, level, text, file, line = fields
                logger = logging.getLogger(name)
                if logger.isEnabledFor(level):
                    logger.handle(logging.LogRecord(name, level, file, line, text, None, None))

    async def _next(self) -> tuple[str, list[Any], str]:
        while True:
            text = await self._texts.get()
            if isinstance(text, Exception):
                raise text
            try:
                kind, fields, message = read(text)
            except ValueError:
                continue  # posted by other code in the worker
            self._ready = self._ready or kind == "ready"
            return kind, fields, message

    def rests(self, end: Callable[[], None]) -> None:
        """Call a function if it has had nothing to do for a while."""
        self._stop_timer = LoopClock().call_later(IDLE_SECONDS, end)

    def end(self) -> None:
        self._stop_timer()
        self._worker.end()


async def run_sync(
    func: Callable[..., Any], *args: Any, cancellable: bool = False, limiter: CapacityLimiter | None = None
) -> Any:
    """Call a function in a worker, in place of `anyio.to_process.run_sync`."""
    if _pool is None:
        raise RuntimeError("There are no processes before the page serves: call this in a tool, not at import.")
    return await _pool.run(func, *args, cancellable=cancellable, limiter=limiter)


class ProcessPoolExecutor(Executor):
    """Takes the place of `concurrent.futures.ProcessPoolExecutor`; see there for the arguments."""

    def __init__(
        self,
        max_workers: int | None = None,
        mp_context: object = None,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        **options: object,
    ) -> None:
        self._most = max_workers
        self._limiter: CapacityLimiter | None = None
        self._initializer = initializer and (str(id(self)), initializer, initargs)
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in a worker; await the future with `asyncio.wrap_future`, or use `loop.run_in_executor`."""
        if self._over:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        work = partial(fn, *args, **kwargs)
        if self._initializer:
            work = partial(initialized, *self._initializer, work)
        task = asyncio.get_running_loop().create_task(self._run(future, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: future.cancel() if done.cancelled() else None)  # it may not have begun
        future.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)
        return future

    async def _run(self, future: Future[Any], work: Callable[[], Any]) -> None:
        if self._limiter is None and self._most is not None:
            self._limiter = CapacityLimiter(self._most)
        try:
            result = await run_sync(work, cancellable=True, limiter=self._limiter)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  raised by `result()`
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(result)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more functions; see `Executor.shutdown`. It does not wait, as a page cannot."""
        self._over = True
        if cancel_futures:
            for task in tuple(self._tasks):
                task.cancel()


def replace() -> None:
    """Replace the functions and classes that start processes. Does nothing when repeated.

    Call it before the author's code is imported, which may import them by name.
    """
    anyio.to_process.run_sync = run_sync  # type: ignore[assignment]
    concurrent.futures.ProcessPoolExecutor = ProcessPoolExecutor  # type: ignore[misc,assignment]


def use(start: StartWorker, most: int) -> None:
    """Set how this page starts workers; see `Pool`."""
    global _pool
    _pool = Pool(start, most)
