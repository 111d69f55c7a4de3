"""Requests, against a model: a list of what was opened, of which each ends once."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mcpframe.frame.core.errors import TooManyPending
from mcpframe.frame.core.requests import Request, Requests

SECONDS = st.one_of(st.none(), st.floats(0, 20), st.just(0.0))
STRANGE: list[Any] = [None, True, False, 1.0, "1", -1, [], {}, float("nan"), b"a", ("a",)]
IDS = {"numbers": lambda: itertools.count(1), "texts": lambda: map("mcpframe/{}".format, itertools.count(1))}


@dataclass
class Modelled:
    """What is known of a request without the code under test."""

    value: str
    deadline: float
    renewal: float | None
    last: float


class RequestsMachine(RuleBasedStateMachine):
    """Opens, answers and cancels requests while time passes."""

    @initialize(limit=st.one_of(st.none(), st.integers(0, 4)), ids=st.sampled_from(sorted(IDS)))
    def begin(self, limit: int | None, ids: str) -> None:
        self.limit = limit
        self.requests: Requests[Any, str] = Requests(IDS[ids](), limit)
        self.now = 100.0
        self.waiting: dict[Any, Modelled] = {}
        self.used: list[Any] = []

    def ends(self, ended: list[Request[Any, str]], expected: set[Any]) -> None:
        assert {request.id for request in ended} == expected
        assert [request.value for request in ended] == [self.waiting.pop(request.id).value for request in ended]

    def any_id(self, index: int) -> Any:
        ids = [*self.waiting, *self.used, *STRANGE]
        return ids[index % len(ids)]

    @rule(seconds=SECONDS, renewal=SECONDS, last=SECONDS, value=st.text(max_size=3))
    def open(self, seconds: float | None, renewal: float | None, last: float | None, value: str) -> None:
        times = {"deadline": seconds, "last": last}
        at = {name: None if after is None else self.now + after for name, after in times.items()}
        if self.limit is not None and len(self.waiting) >= self.limit:
            with pytest.raises(TooManyPending):
                self.requests.open(value, renewal=renewal, **at)
            return
        request = self.requests.open(value, renewal=renewal, **at)
        assert request.id not in self.used
        self.used.append(request.id)
        end = math.inf if at["last"] is None else at["last"]
        deadline = min(math.inf if at["deadline"] is None else at["deadline"], end)
        self.waiting[request.id] = Modelled(value, deadline, renewal, end)

    @rule(seconds=st.floats(0, 20), count=st.integers(100, 250))
    def open_and_answer_many(self, seconds: float, count: int) -> None:
        for _ in range(count):
            if self.limit is None or len(self.waiting) < self.limit:
                self.requests.take(self.requests.open("", self.now + seconds).id)

    @rule(index=st.integers(0, 50))
    def answer_or_cancel(self, index: int) -> None:
        id_ = self.any_id(index)
        known = self.waiting.pop(id_, None) if any(id_ is used for used in self.used) else None
        request = self.requests.take(id_)
        assert (request and request.value) == (known and known.value)
        assert (request is None) == (known is None)

    @rule(index=st.integers(0, 50))
    def progress(self, index: int) -> None:
        id_ = self.any_id(index)
        known = self.waiting.get(id_) if any(id_ is used for used in self.used) else None
        assert (self.requests.progressed(id_, self.now) is None) == (known is None)
        if known is not None and known.renewal is not None:
            known.deadline = min(self.now + known.renewal, known.last)

    @rule(seconds=st.floats(0, 15))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        overdue = {id_ for id_, known in self.waiting.items() if known.deadline <= self.now}
        ended = self.requests.take_overdue(self.now)
        assert ended == sorted(ended, key=lambda request: request.deadline)
        self.ends(ended, overdue)
        assert self.requests.take_overdue(self.now) == []

    @rule()
    def time_passes_to_the_deadline(self) -> None:
        if (deadline := self.requests.deadline) is not None:
            before = len(self.requests)
            self.time_passes(max(0.0, deadline - self.now))
            assert len(self.requests) < before or self.now < deadline  # floats

    @rule()
    def the_peer_goes(self) -> None:
        ended = self.requests.take_all()
        assert [request.id for request in ended] == list(self.waiting)
        self.ends(ended, set(self.waiting))

    @invariant()
    def what_waits_is_known(self) -> None:
        if not hasattr(self, "requests"):
            return
        assert {request.id: request.deadline for request in self.requests} == {
            id_: known.deadline for id_, known in self.waiting.items()
        }
        assert len(self.requests) == len(self.waiting)
        earliest = min((known.deadline for known in self.waiting.values()), default=math.inf)
        assert self.requests.deadline == (None if earliest == math.inf else earliest)


TestRequests = RequestsMachine.TestCase
TestRequests.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


@pytest.mark.parametrize("strange", STRANGE)
def test_an_id_is_found_as_it_was_given_only(strange: Any) -> None:
    requests: Requests[int, str] = Requests(itertools.count(1))
    requests.open("waits")
    assert requests.find(strange) is requests.take(strange) is requests.progressed(strange, 0.0) is None
    assert len(requests) == 1


class Id(str):
    """An id that can be watched."""


def test_the_ids_of_ended_requests_are_forgotten_while_another_waits() -> None:
    alive: weakref.WeakSet[Id] = weakref.WeakSet()

    def ids() -> Iterator[Id]:
        for number in itertools.count(1):
            alive.add(id_ := Id(number))
            yield id_
            del id_

    requests: Requests[Id, str] = Requests(ids())
    silent = requests.open("waits", 10.0)
    chatty = requests.open("reports progress", 20.0, renewal=20.0)
    for step in range(5000):
        requests.progressed(chatty.id, step / 1000)
        requests.take(requests.open("", 30.0).id)
    assert len(alive) < 500
    assert requests.deadline == 10.0
    requests.take(silent.id)
    assert requests.deadline == chatty.deadline == 24.999
