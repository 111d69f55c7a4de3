"""The page's half of a server in a worker: a server object whose clients are served there.

Implements `serving.interfaces.ServerModule` for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.waiting.clock import Alarm, LoopClock
from mcpframe.frame.worker.outputs import Computing, Deliver, End, Left, Output, Post, Problem, Start
from mcpframe.frame.worker.port import stamped
from mcpframe.frame.worker.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)


class RunningWorker(Protocol):
    """A worker that runs."""

    def post(self, text: str) -> None:
        """Send a text to its Python."""

    def end(self) -> None:
        """End it at once."""


StartWorker = Callable[[Callable[[str], None], Callable[[str, str, bool], None]], RunningWorker]
"""Starts a worker. It calls the first function with each text of the worker's Python, and the second once if the worker
has ended by itself: with a sentence, its details, and False if this page can have no worker."""


class NoWorker(Exception):
    """This page can have no worker, by its browser or by a policy."""


class WorkerServer(Framed):
    """A server that runs in a worker."""

    served_by = __name__

    def __init__(
        self,
        start: StartWorker,
        supervisor: Supervisor,
        *,
        on_problem: Callable[[str, str], None],
        on_computing: Callable[[tuple[str, ...], float], None],
    ) -> None:
        """Start its first worker.

        Args:
            start: see `StartWorker`.
            supervisor: a supervisor without clients.
            on_problem: called with a sentence and details, for people.
            on_computing: called with the names of the tools that the worker computes, and for how many seconds it has
                done so; with no names once it computes no more.
        """
        super().__init__(None)
        self._start_worker = start
        self._supervisor = supervisor
        self._on_problem = on_problem
        self._on_computing = on_computing
        self._clock = LoopClock()
        self._alarm = Alarm(self._clock, self._tick)
        self._outgoing: dict[int, asyncio.Queue[Deliver | None]] = {}
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._known = asyncio.Event()
        self._worker = self._new_worker()

    async def begun(self) -> None:
        """Wait until its first worker has begun. Clients can be served then: what they ask for waits for the worker.

        Raises:
            NoWorker: see there.
        """
        await self._begun

    async def known(self) -> None:
        """Wait until the first worker is ready, and `browser` is that of its server; or until it has failed."""
        await self._known.wait()

    def stop(self) -> None:
        """Stop every call of a tool, on the user's request."""
        self._carry_out(self._supervisor.stopped(self._clock.now()))

    async def serve(self, read: Any, write: Any, experimental: Mapping[str, Any]) -> None:
        """Serve a client; see `ServerModule.serve`."""
        number, outputs = self._supervisor.opened(experimental, self.peer.about if self.peer else None)
        queue = self._outgoing[number] = asyncio.Queue()
        self._carry_out(outputs)
        sending = asyncio.create_task(self._send(queue, write))
        try:
            async with read, write:
                async for message in read:
                    if not isinstance(message, Exception):  # rejected, and answered
                        self._carry_out(self._supervisor.said(number, message, self._clock.now()))
        finally:
            self._carry_out(self._supervisor.left(number, self._clock.now()))
            await asyncio.wait({sending})

    async def _send(self, queue: asyncio.Queue[Deliver | None], write: Any) -> None:
        while (item := await queue.get()) is not None:
            try:
                await write.send((item.text, item.message))
            except anyio.ClosedResourceError:
                log.debug("The session has ended before this could be sent.")

    def _new_worker(self) -> RunningWorker:
        generation = self._supervisor.generation

        def is_current() -> bool:
            return generation == self._supervisor.generation

        def heard(text: str) -> None:
            if not is_current():
                return
            if not self._begun.done():
                self._begun.set_result(None)
            self._carry_out(self._supervisor.heard(text, self._clock.now()))
            if self._supervisor.is_ready:
                self.browser = self._supervisor.facts.get("browser")
                self._known.set()

        def ended(title: str, detail: str, begun: bool) -> None:
            if not is_current():
                return
            if not self._begun.done():
                if not begun:
                    self._begun.set_exception(NoWorker(title))
                    return
                self._begun.set_result(None)  # clients can be served: with the reason, or by a later worker
            self._known.set()
            self._on_problem(title, detail)
            self._carry_out(self._supervisor.ended(title, self._clock.now()))

        return self._start_worker(heard, ended)

    def _carry_out(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if isinstance(output, Post):
                self._worker.post(stamped(output.text))
            elif isinstance(output, Deliver):
                self._outgoing[output.client].put_nowait(output)
            elif isinstance(output, Left):
                self._outgoing.pop(output.client).put_nowait(None)
            elif isinstance(output, Start):
                self._worker.end()
                self._worker = self._new_worker()
            elif isinstance(output, End):
                self._worker.end()
            elif isinstance(output, Problem):
                self._on_problem(output.title, output.detail)
            elif isinstance(output, Computing):
                self._on_computing(output.tools, self._clock.now() - output.since)
        self._alarm.set(self._supervisor.deadline)

    def _tick(self) -> None:
        self._carry_out(self._supervisor.tick(self._clock.now()))


def messages() -> PlainMessages:
    """Return the form of the messages in the streams of `serve`."""
    return PlainMessages()


async def list_tools(server: Any) -> list[Any] | None:
    """Return None: the tools are listed within a session."""
    return None


async def serve(
    server: WorkerServer,
    read: Any,
    write: Any,
    *,
    experimental: Mapping[str, Any] | None = None,
    on_problem: object = None,
) -> None:
    """Serve one connection; see `ServerModule.serve`. Problems are reported by the server itself."""
    await server.serve(read, write, experimental or {})
