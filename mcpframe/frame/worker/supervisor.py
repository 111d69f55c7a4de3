"""Supervise the worker in which a server runs: its clients, their calls, and its end. No I/O, no clock.

The page keeps what a new worker needs to continue the sessions of the old one: how each client has introduced itself,
and which of its requests have not been answered. So a worker may be ended at any time:

- A request that the worker had begun to handle fails with -32000 and `mayHaveRun`; one that only waited is handled by
  the new worker, and so are those that only read the server's lists.
- A request that is cancelled while it waits is never run.
- A request of the server to a client is cancelled, and its answer is dropped.

A call is over when it is cancelled, exceeds its time limit, is stopped by a person, or loses its client. If the worker
had begun to handle that call, or is idle and did not begin it, its event loop has the grace period to answer (longer if
it fetches a file of its bundle); otherwise the worker is ended. So it is if a call that has become a task is cancelled.
Pings of clients are answered here.

A session that the worker ends by itself fails with its requests; the client's next request begins another one there.

A new worker that ends before it is ready, or is not ready in time, is not followed by another at once: the requests
that wait for it fail with -32000, and the next request starts one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED, RequestId, answered_as, asked_as
from mcpframe.frame.core.limits import WORKER_START_SECONDS
from mcpframe.frame.worker.calls import REPEATABLE, REPLAYED, OpenCall, WorkerClient
from mcpframe.frame.worker.outputs import Computing, Deliver, End, Json, Left, Output, Post, Problem, Start
from mcpframe.frame.worker.port import read_of_worker, text_of
from mcpframe.frame.worker.pulse import Pulse

REQUEST_TIMEOUT: Final = -32001
"""The code of both official SDKs for a request that took too long."""


class Supervisor:
    """The page's half of a server in a worker.

    Attributes:
        facts: the properties of the server, from its last worker that was ready: `browser`, see `FrameServer`.
    """

    def __init__(self, *, grace: float, limits: Mapping[str, float] | None = None) -> None:
        """Begin before the worker is ready; its first one is started by its owner.

        Args:
            grace: seconds that the worker's event loop has for an answer before the worker is ended.
            limits: the time limits of calls in seconds, by the name of the tool; `"*"` for all others.
        """
        self.facts: Json = {}
        self._pulse = Pulse(grace)
        self._limits = dict(limits or {})
        self._clients: dict[int, WorkerClient] = {}
        self._numbers = itertools.count(1)
        self._generation = 1
        self._ready = False
        self._awaited = True
        """Whether there is a worker, or one is being started."""
        self._start_by: float | None = None
        self._running: dict[OpenCall, bool] = {}
        self._dropped: set[tuple[int, RequestId]] = set()
        """The requests in the worker's queue that nobody waits for any more."""

    @property
    def is_ready(self) -> bool:
        """Whether a worker serves."""
        return self._ready

    @property
    def generation(self) -> int:
        """The number of the worker, from 1."""
        return self._generation

    @property
    def deadline(self) -> float | None:
        """The time of the next `tick`; None for none."""
        times = [call.ends for call in self._calls] if self._limits else []  # after each message
        times += [self._start_by, self._pulse.deadline(awaited=self._is_awaited)]
        return min((time for time in times if time is not None), default=None)

    # --- from the page

    def opened(self, experimental: Json, about: Sequence[str] | None = None) -> tuple[int, list[Output]]:
        """Begin the session of a client, and return its number.

        Args:
            experimental: experimental capabilities to announce to it.
            about: `framed.SessionFacts` of its session with the page; None for none.
        """
        client = WorkerClient(next(self._numbers), experimental, about)
        self._clients[client.number] = client
        return client.number, [self._open(client)] if self._ready else []

    def said(self, number: int, message: Json, now: float) -> list[Output]:
        """Pass on a message of a client.

        Args:
            number: the client's.
            message: a well-formed JSON-RPC message.
            now: seconds of the clock of deadlines.
        """
        client = self._clients[number]
        method = message.get("method")
        if client.closing:
            return []
        if method is None:
            return self._answered(client, message)
        if jsonrpc.is_request(message):
            if method == "ping":
                return [client.delivery({"jsonrpc": "2.0", "id": message["id"], "result": {}})]
            if message["id"] in client.calls:  # a page that was left has answered it
                error = jsonrpc.id_in_use(message["id"])
                return [client.delivery(jsonrpc.error_response(message["id"], jsonrpc.INVALID_REQUEST, str(error)))]
            limit = self._limit(message)
            client.calls[message["id"]] = OpenCall(client, message, None if limit is None else now + limit)
            client.note(message)
            self._probe(now)
            outputs = [*self._start(now), *self._send(client, message)]
            return [*outputs, *self._ask(now, "a task was cancelled")] if client.cancels_task(message) else outputs
        if method == jsonrpc.CANCELLED:
            return self._cancelled(client, message, now)
        if method == jsonrpc.PROGRESS:
            token = jsonrpc.usable_id((message.get("params") or {}).get("progressToken"))
            message = answered_as(message, lambda wire: client.tokens.get(wire, wire)) if token is not None else message
        client.note(message)
        return self._send(client, message)

    def left(self, number: int, now: float) -> list[Output]:
        """End the session of a client; `Left` follows once the worker has ended it."""
        client = self._clients[number]
        calls = [self._forget(call) for call in tuple(client.calls.values())]
        client.closing = True
        if not self._ready or not client.is_open:
            del self._clients[number]
            return [Left(number)]
        outputs: list[Output] = [Post(text_of("close", number))]
        return [*outputs, *self._ask(now, "its client has left")] if any(map(self._holds, calls)) else outputs

    def stopped(self, now: float) -> list[Output]:
        """Stop every call of a tool that the worker handles, as a person has asked for."""
        running = [call for call in self._running if call.tool]
        why = "It was stopped by a person."
        outputs = [each for call in running for each in self._give_up(call, CONNECTION_CLOSED, why, "stopped")]
        return [*outputs, *self._ask(now, "it was stopped by a person")] if running or self._pulse.computing else []

    def tick(self, now: float) -> list[Output]:
        """Act on the deadlines that have passed."""
        if why := self._pulse.overdue(now):
            return self.ended(why, now)
        if self._start_by is not None and self._start_by <= now:
            return self.ended(f"it was not ready within {WORKER_START_SECONDS:g} s", now)
        outputs: list[Output] = []
        for call in [call for call in self._calls if call.ends is not None and call.ends <= now]:
            why = f"The tool {call.tool!r} was stopped, as it took longer than {self._limit(call.message):g} s."
            outputs += self._give_up(call, REQUEST_TIMEOUT, why, "timeout")
            outputs += self._ask(now, f"its tool {call.tool!r} took too long") if self._holds(call) else []
        if self._is_awaited and (since := self._pulse.silent_since(now)) is not None:
            self._pulse.computing = True
            outputs.append(Computing(self._tools, since))
            outputs += self._tell_who_waits()
        return [*outputs, *self._pulse.probe(now, awaited=self._is_awaited)]

    # --- from the worker

    def heard(self, text: str, now: float) -> list[Output]:
        """Handle a text of the worker."""
        heard = read_of_worker(text)
        if heard is None:
            return []
        kind, fields, text, message = heard
        if kind == "said":
            return self._server_said(fields[0], text, message)
        if kind in ("took", "asks"):
            return self._comes_to(kind, fields[0], fields[1], now)
        if kind == "alive":
            return self._alive(fields[0], now)
        if kind == "fetches":
            self._pulse.fetches(now)
            return []
        if kind == "fetched":
            self._pulse.fetched(now)
            return []
        if kind == "closed":
            return self._closed(fields[0])
        if kind == "problem":
            return [Problem(*fields)]
        if self._ready:
            return []
        if kind == "begun":
            self._start_by = now + WORKER_START_SECONDS
            return []
        self._ready, self._start_by, self.facts = True, None, fields[0]
        self._probe(now)
        return [each for client in self._clients.values() for each in self._resume(client)]

    def ended(self, why: str, now: float) -> list[Output]:
        """Start another worker, as this one has ended or has to; only for the next request if it was never ready."""
        was_ready, self._ready = self._ready, False
        self._awaited, self._start_by = False, None
        self._running.clear()
        self._dropped.clear()
        outputs: list[Output] = self._start(now) if was_ready else [End()]
        for client in tuple(self._clients.values()):
            outputs += self._interrupted(client, why) if was_ready else self._refused(client, why)
            client.is_open = False
            if client.closing:
                del self._clients[client.number]
                outputs.append(Left(client.number))
        self._generation += 1
        return [*outputs, Computing((), 0.0)] if self._pulse.ended() else outputs

    # ---

    @property
    def _tools(self) -> tuple[str, ...]:
        names = [call.tool or call.method for call in self._running if not call.method.startswith("tasks/")]
        # What no call explains, a task does. It may have begun before a request about it was answered.
        tasks = [tool for client in self._clients.values() for _, tool in client.tasks.values()]
        return tuple(dict.fromkeys(names or tasks or [call.method for call in self._running]))

    @property
    def _calls(self) -> Iterator[OpenCall]:
        return (call for client in self._clients.values() for call in client.calls.values())

    @property
    def _is_awaited(self) -> bool:
        """Whether a request waits for the worker, or is handled by it."""
        return self._ready and any(self._calls)

    def _holds(self, call: OpenCall) -> bool:
        """Return whether the worker handles a call, or handles none, so that nothing explains why this one waits."""
        return call.taken or not self._running

    def _comes_to(self, kind: str, number: int, id_: RequestId, now: float) -> list[Output]:
        """Handle that the worker has come to a request: it runs it, or asks whether it is still wanted."""
        call = self._call(number, id_)
        was_dropped = (number, id_) in self._dropped
        self._dropped.discard((number, id_))
        if kind == "asks":
            return [Post(text_of("go", number, id_))] if call else []
        if call:
            self._running[call] = call.taken = True
            self._probe(now)
            return []
        return self._ask(now, "a call was cancelled") if was_dropped else []

    def _forget(self, call: OpenCall) -> OpenCall:
        number, id_ = call.client.number, call.message["id"]
        del call.client.calls[id_]
        self._running.pop(call, None)
        if self._ready and not call.taken:
            self._dropped.add((number, id_))
        return call

    def _call(self, number: int, id_: RequestId) -> OpenCall | None:
        client = self._clients.get(number)
        return client.calls.get(id_) if client else None

    def _limit(self, message: Json) -> float | None:
        if message["method"] != "tools/call":
            return None
        name = (message.get("params") or {}).get("name")
        return self._limits.get(name if isinstance(name, str) else "", self._limits.get("*"))

    def _open(self, client: WorkerClient) -> Output:
        client.is_open = True
        return Post(text_of("open", client.number, client.experimental, client.about))

    def _send(self, client: WorkerClient, message: Json) -> list[Output]:
        if self._ready and not client.is_open:
            return [*self._introduced(client), *self._send(client, message)] if jsonrpc.is_request(message) else []
        if self._ready:
            return [Post(text_of("said", client.number, message=payload.encode(message)))]
        if self._awaited and not jsonrpc.is_request(message) and message.get("method") not in REPLAYED:
            client.waiting.append(message)  # the others are among the calls, or in the introduction
        return []

    def _resume(self, client: WorkerClient) -> list[Output]:
        """Continue the session of a client in a worker that is ready."""
        if client.closing:
            return [self._open(client), Post(text_of("close", client.number))]
        outputs = self._introduced(client)
        calls = sorted(client.calls.values(), key=lambda call: call.method != "initialize")
        held, client.waiting = client.waiting, []
        for message in (*(call.message for call in calls), *held):
            outputs += self._send(client, message)
        return outputs

    def _introduced(self, client: WorkerClient) -> list[Output]:
        """Begin the session of a client in the worker, as its earlier one was begun."""
        opened = self._open(client)
        return [opened, *(each for message in client.replayed() for each in self._send(client, message))]

    def _closed(self, number: int) -> list[Output]:
        """Handle that the worker has ended the session of a client, because it has left or not."""
        client = self._clients.get(number)
        if client is None or not client.is_open:
            return []
        client.is_open = False
        self._dropped = {key for key in self._dropped if key[0] != number}
        if client.closing:
            del self._clients[number]
            return [Left(number)]
        return self._failed(client, client.calls.values(), "The server has ended this session.", "session_ended")

    def _server_said(self, number: int, text: str, message: Json) -> list[Output]:
        client = self._clients.get(number)
        if client is None or client.closing:
            return []
        if "method" not in message:
            id_ = message.get("id")
            call = client.calls.get(id_) if id_ is not None else None
            if id_ is not None and call is None:
                return []  # cancelled, or an answer to a replayed message
            if call:
                client.note_task(self._forget(call), message)
            return [Deliver(number, text, message)]
        renamed = asked_as(message, self._wire_id)
        if jsonrpc.is_request(message):
            token, wire = jsonrpc.progress_token(message), jsonrpc.progress_token(renamed)
            client.asked[renamed["id"]] = message["id"], wire
            if token is not None and wire is not None:
                client.tokens[wire] = token
        elif (cancelled := jsonrpc.cancelled_id(renamed)) is not None:
            client.own_id(cancelled)
        return [Deliver(number, text, message) if renamed is message else client.delivery(renamed)]

    def _wire_id(self, id_: Any) -> Any:
        """Return the id of a server's request for its client; each worker counts from the beginning."""
        return id_ if self._generation == 1 else f"{self._generation}/{id_}"

    def _answered(self, client: WorkerClient, message: Json) -> list[Output]:
        id_ = jsonrpc.usable_id(message.get("id"))
        own = None if id_ is None else client.own_id(id_)
        return [] if own is None else self._send(client, answered_as(message, lambda _: own))

    def _cancelled(self, client: WorkerClient, message: Json, now: float) -> list[Output]:
        id_ = jsonrpc.cancelled_id(message)
        if id_ is None or id_ not in client.calls:
            return []
        call = self._forget(client.calls[id_])
        if not self._ready:
            return []
        outputs = self._send(client, message)
        return [*outputs, *self._ask(now, "a call was cancelled")] if self._holds(call) else outputs

    def _give_up(self, call: OpenCall, code: int, why: str, reason: str) -> list[Output]:
        """Answer a call with an error, and cancel it in the worker."""
        client, id_ = self._forget(call).client, call.message["id"]
        data = {"reason": reason, "mayHaveRun": call.taken}
        outputs = [client.delivery(jsonrpc.error_response(id_, code, why, data))]
        if self._ready:
            outputs += self._send(client, jsonrpc.cancellation(id_, why))
        return outputs

    def _ask(self, now: float, why: str) -> list[Output]:
        """Ask whether the worker's loop runs, and end the worker if it does not answer within the grace period."""
        return self._pulse.ask(now, why) if self._ready else []

    def _probe(self, now: float) -> None:
        if self._is_awaited:
            self._pulse.probe_later(now)

    def _alive(self, number: int, now: float) -> list[Output]:
        """Note the worker's answer to a question."""
        outputs: list[Output] = [Computing((), now)] if self._pulse.answered(number) else []
        self._probe(now)
        return outputs

    def _tell_who_waits(self) -> list[Output]:
        """Send progress to the clients whose calls wait for the worker."""
        why = f"It waits for {', '.join(self._tools) or 'the server'}, which is computing."
        return [output for call in self._calls for output in call.waits(why)]

    def _start(self, now: float) -> list[Output]:
        """Start a worker if there is none."""
        if self._awaited:
            return []
        self._awaited, self._start_by = True, now + WORKER_START_SECONDS
        return [Start()]

    def _refused(self, client: WorkerClient, why: str) -> list[Output]:
        """Answer what waits for a worker that could not be started."""
        client.waiting.clear()
        why = f"The worker of this server could not be started: {why.rstrip('.')}."
        return self._failed(client, client.calls.values(), why, "worker_failed")

    def _failed(self, client: WorkerClient, calls: Iterable[OpenCall], why: str, reason: str) -> list[Output]:
        """Answer calls with an error, as whoever handled them is gone."""
        outputs: list[Output] = []
        for call in tuple(calls):
            data = {"reason": reason, "mayHaveRun": call.taken}
            id_ = self._forget(call).message["id"]
            outputs.append(client.delivery(jsonrpc.error_response(id_, CONNECTION_CLOSED, why, data)))
        return [*outputs, *client.withdrawn()]

    def _interrupted(self, client: WorkerClient, why: str) -> list[Output]:
        """End what the old worker had begun for a client."""
        outputs = [self._forget(call).task_has_ended() for call in client.end_tasks()]
        taken = [call for call in client.calls.values() if call.taken]
        for call in taken:
            call.taken = call.method not in REPEATABLE
        client.waiting.clear()
        why = f"The worker of this server was ended while it handled this request: {why.rstrip('.')}."
        return [*outputs, *self._failed(client, [call for call in taken if call.taken], why, "worker_ended")]
