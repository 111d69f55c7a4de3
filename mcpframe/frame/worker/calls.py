"""The clients of a supervisor and their calls: all that a new worker needs to go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.callers import named_caller
from mcpframe.frame.core.jsonrpc import RequestId
from mcpframe.frame.worker.outputs import Deliver, Json, Output
from mcpframe.frame.worker.port import REPLAY

REPEATABLE = frozenset(
    {
        *("initialize", "server/discover", "logging/setLevel", "completion/complete"),
        *("tools/list", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read"),
        *("resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
    }
)
"""The requests that a new worker may handle once more."""
REPLAYED = ("initialize", "notifications/initialized", "logging/setLevel")
"""The messages with which a client introduces itself, in the order in which a new worker gets them."""
_MOST_TASKS = 1000
"""The most tasks that are remembered for a client: many times those that a server keeps."""


@dataclass(eq=False)
class OpenCall:
    """A request of a client that is not answered.

    Attributes:
        ends: the time at which its time limit ends; None for no limit.
        taken: whether the worker has begun to handle it.
        told: whether the client knows that it waits.
    """

    client: WorkerClient
    message: Json
    ends: float | None = None
    taken: bool = False
    told: bool = False

    @property
    def method(self) -> str:
        return str(self.message["method"])

    @property
    def tool(self) -> str:
        """The tool that is called; empty for other requests."""
        params = self.message.get("params") or {}
        return str(params.get("name", "")) if self.method == "tools/call" else ""

    def task_has_ended(self) -> Output:
        """Return the answer to this cancellation of a task, which has ended with its worker."""
        return self.client.delivery({"jsonrpc": "2.0", "id": self.message["id"], "result": {"resultType": "complete"}})

    def waits(self, why: str) -> list[Output]:
        """Return one progress notification with the reason for the wait, if the client asked for progress."""
        token = jsonrpc.progress_token(self.message)
        if self.taken or self.told or token is None:
            return []
        self.told = True
        params = {"progressToken": token, "progress": 0, "message": why}
        return [self.client.delivery({"jsonrpc": "2.0", "method": jsonrpc.PROGRESS, "params": params})]


@dataclass(eq=False)
class WorkerClient:
    """A client, from its first message to the end of its session in the worker.

    Attributes:
        number: its number.
        experimental: experimental capabilities that are announced to it.
        about: `framed.SessionFacts` of its session with the page; None for none.
        introduction: the messages with which it has introduced itself, by method.
        subscriptions: its subscriptions of resources, by URI.
        calls: its open requests, by id.
        asked: by the id of a request of the server, as the client has it: the worker's id, and the client's progress
            token.
        tokens: the worker's progress tokens, by the client's.
        tasks: the calls that the worker has answered with a task: user and tool, by the task's id.
        waiting: notifications and answers for a worker that is not ready.
        is_open: whether it has a session in the worker, if that is ready.
        closing: whether it has left.
    """

    number: int
    experimental: Json
    about: Sequence[str] | None
    introduction: dict[str, Json] = field(default_factory=dict)
    subscriptions: dict[str, Json] = field(default_factory=dict)
    calls: dict[RequestId, OpenCall] = field(default_factory=dict)
    asked: dict[RequestId, tuple[RequestId, RequestId | None]] = field(default_factory=dict)
    tokens: dict[RequestId, RequestId] = field(default_factory=dict)
    tasks: dict[str, tuple[str, str]] = field(default_factory=dict)
    waiting: list[Json] = field(default_factory=list)
    is_open: bool = False
    closing: bool = False

    def delivery(self, message: Json) -> Output:
        """Return the output that sends it a message."""
        return Deliver(self.number, payload.encode(message), message)

    def note(self, message: Json) -> None:
        """Keep a message with which it introduces itself."""
        method = str(message["method"])
        if method in REPLAYED:
            self.introduction[method] = message
        uri = str((message.get("params") or {}).get("uri"))
        if method == "resources/subscribe":
            self.subscriptions[uri] = message
        elif method == "resources/unsubscribe":
            self.subscriptions.pop(uri, None)

    def note_task(self, call: OpenCall, answer: Json) -> None:
        """Keep the task with which a call was answered, if it was."""
        result = answer.get("result")
        if call.tool and isinstance(result, Mapping) and result.get("resultType") == "task":
            self.tasks[str(result.get("taskId"))] = named_caller(call.message.get("params")).user, call.tool
            while len(self.tasks) > _MOST_TASKS:
                del self.tasks[next(iter(self.tasks))]

    def cancels_task(self, message: Json) -> bool:
        """Return whether a request cancels a task that its sender has in this worker."""
        params = message.get("params") or {}
        task = self.tasks.get(str(params.get("taskId")))
        return message["method"] == "tasks/cancel" and task is not None and task[0] == named_caller(params).user

    def end_tasks(self) -> list[OpenCall]:
        """Forget its tasks, as their worker has ended; return the requests that cancel them."""
        cancelling = [call for call in self.calls.values() if self.cancels_task(call.message)]
        self.tasks.clear()
        return cancelling

    def replayed(self) -> Iterator[Json]:
        """Yield the messages that begin its session again; no answer to them is awaited."""
        known = [self.introduction[method] for method in REPLAYED if method in self.introduction]
        for number, message in enumerate((*known, *self.subscriptions.values())):
            if message.get("id") not in self.calls:  # else it is still to be answered
                yield {**message, "id": f"{REPLAY}{number}"} if "id" in message else message

    def own_id(self, id_: RequestId) -> RequestId | None:
        """Return the worker's id of a request that is over; None if it has none, as one of an earlier worker."""
        own, token = self.asked.pop(id_, (None, None))
        if token is not None:
            self.tokens.pop(token, None)
        return own

    def withdrawn(self) -> list[Output]:
        """Cancel the server's requests to it, as whoever has asked is gone."""
        why = "The worker of this server was ended."
        outputs = [self.delivery(jsonrpc.cancellation(wire, why)) for wire in self.asked]
        self.asked.clear()
        self.tokens.clear()
        return outputs
