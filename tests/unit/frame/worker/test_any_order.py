"""Whatever clients, a worker and time do in any order: each request has one answer, unless its client does not wait."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from mcpframe.frame.worker.outputs import Deliver, End, Left, Output, Post, Start
from mcpframe.frame.worker.port import read, text_of
from mcpframe.frame.worker.supervisor import Supervisor

METHODS = ("tools/call", "tools/list", "initialize", "resources/read", "ping")


class Talk(RuleBasedStateMachine):
    """The worker is a list of posted texts, which it takes in order, and the requests that it has taken."""

    clients = Bundle("clients")

    def __init__(self) -> None:
        super().__init__()
        self.supervisor = Supervisor(grace=1.0, limits={"slow": 5.0})
        self.now = 0.0
        self.number = 0
        self.posted: list[str] = []
        self.sessions: set[int] = set()
        self.taken: list[tuple[int, Any]] = []
        self.alive = True
        self.ready = False
        self.waits: dict[int, set[Any]] = {}
        self.cancelled: set[tuple[int, Any]] = set()
        self.answered: dict[tuple[int, Any], int] = {}
        self.begin()

    def carry_out(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            if isinstance(output, Post):
                assert self.ready
                self.posted.append(output.text)
            elif isinstance(output, (Start, End)):
                self.posted, self.taken, self.ready = [], [], False
                self.sessions = set()
                self.alive = isinstance(output, Start)
            elif isinstance(output, Deliver):
                message = output.message
                if "method" not in message:
                    key = output.client, message["id"]
                    assert key[1] in self.waits[output.client], "nobody waits for this answer"
                    self.waits[output.client].discard(key[1])
                    self.answered[key] = self.answered.get(key, 0) + 1
                    assert key not in self.cancelled
            elif isinstance(output, Left):
                self.waits.pop(output.client, None)

    def tick(self) -> None:
        self.carry_out(self.supervisor.tick(self.now))

    @rule(target=clients)
    def open(self) -> int:
        number, outputs = self.supervisor.opened({})
        self.waits[number] = set()
        self.carry_out(outputs)
        return number

    @rule(client=clients, method=st.sampled_from(METHODS), tool=st.sampled_from(("add", "slow")))
    def ask(self, client: int, method: str, tool: str) -> None:
        self.number += 1
        self.waits[client].add(self.number)
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": {"name": tool}}
        self.carry_out(self.supervisor.said(client, message, self.now))

    @rule(client=clients, data=st.data())
    def cancel(self, client: int, data: st.DataObject) -> None:
        if not self.waits[client]:
            return
        id_ = data.draw(st.sampled_from(sorted(self.waits[client])))
        self.waits[client].discard(id_)
        self.cancelled.add((client, id_))
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}
        self.carry_out(self.supervisor.said(client, message, self.now))

    @rule(client=consumes(clients))
    def leave(self, client: int) -> None:
        self.waits[client].clear()
        self.carry_out(self.supervisor.left(client, self.now))

    @precondition(lambda self: self.alive and not self.ready)
    @rule()
    def begin(self) -> None:
        self.ready = True
        self.carry_out(self.supervisor.heard(text_of("ready", {}), self.now))

    @precondition(lambda self: self.posted)
    @rule(asks=st.booleans())
    def take_all(self, asks: bool) -> None:
        while self.posted:
            self.take(asks)

    @precondition(lambda self: self.posted)
    @rule(asks=st.booleans())
    def take(self, asks: bool) -> None:
        kind, fields, message = read(self.posted.pop(0))
        if kind == "open":
            self.sessions.add(fields[0])
        elif kind == "close":
            self.sessions.discard(fields[0])
            self.hear("closed", fields[0])
        elif kind == "ask":
            self.hear("alive", *fields)
        elif kind == "go":
            self.begin_request(*fields)
        elif "id" in (body := json.loads(message)) and "method" in body:
            assert fields[0] in self.sessions
            if asks:
                self.hear("asks", fields[0], body["id"])
            else:
                self.begin_request(fields[0], body["id"])

    def begin_request(self, client: int, id_: Any) -> None:
        self.taken.append((client, id_))
        self.hear("took", client, id_)

    @precondition(lambda self: self.taken)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        client, id_ = self.taken.pop(data.draw(st.integers(0, len(self.taken) - 1)))
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}})
        self.carry_out(self.supervisor.heard(text_of("said", client, message=body), self.now))

    def hear(self, kind: str, *fields: Any) -> None:
        self.carry_out(self.supervisor.heard(text_of(kind, *fields), self.now))

    @rule(
        client=clients,
        kind=st.sampled_from(("closed", "took", "asks", "ready", "begun", "alive")),
        id_=st.integers(0, 9),
    )
    def forge(self, client: int, kind: str, id_: int) -> None:
        """Post what the worker's own program did not, and answer what fails for that."""
        if kind in ("ready", "begun") and not self.ready:
            return
        fields = {"closed": (client,), "alive": (id_,), "ready": ({},), "begun": ()}.get(kind, (client, id_))
        self.hear(kind, *fields)

    @precondition(lambda self: self.alive)
    @rule()
    def crash(self) -> None:
        self.carry_out(self.supervisor.ended("It has crashed", self.now))

    @rule()
    def stop(self) -> None:
        self.carry_out(self.supervisor.stopped(self.now))

    @rule(seconds=st.sampled_from((0.1, 1.0, 6.0, 70.0)))
    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while (deadline := self.supervisor.deadline) is not None and deadline <= until:
            self.now = max(self.now, deadline)
            self.tick()
        self.now = until

    @invariant()
    def no_answer_twice(self) -> None:
        assert all(count == 1 for count in self.answered.values())

    def teardown(self) -> None:
        if self.alive and not self.ready:
            self.begin()
        while self.posted or self.taken:
            while self.posted:
                self.take(False)
            while self.taken:
                client, id_ = self.taken.pop()
                body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}})
                self.carry_out(self.supervisor.heard(text_of("said", client, message=body), self.now))
        assert not any(self.waits.values()), "these have no answer"


TestAnyOrder = Talk.TestCase
TestAnyOrder.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
