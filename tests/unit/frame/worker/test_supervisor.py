"""The page's half of a server in a worker: what each client and each worker gets, and when a worker is ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from mcpframe.frame.core.callers import CALLER_KEY
from mcpframe.frame.core.limits import WORKER_START_SECONDS
from mcpframe.frame.worker.outputs import Computing, Deliver, End, Left, Output, Post, Problem, Start
from mcpframe.frame.worker.port import read, text_of
from mcpframe.frame.worker.pulse import FETCH_SECONDS, LATE_SECONDS, PROBE_SECONDS, Pulse
from mcpframe.frame.worker.supervisor import Supervisor

GRACE = 1.0


class Rig:
    """A supervisor with a worker that is played by the test, and a clock."""

    def __init__(self, **limits: float) -> None:
        self.supervisor = Supervisor(grace=GRACE, limits=limits)
        self.now = 100.0
        self.outputs: list[Output] = []

    def take(self, outputs: Sequence[Output]) -> None:
        self.outputs += outputs

    def open(self) -> int:
        number, outputs = self.supervisor.opened({})
        self.take(outputs)
        return number

    def say(self, client: int, method: str, id_: Any = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({} if id_ is None else {"id": id_}), "params": params}
        self.take(self.supervisor.said(client, message, self.now))

    def answer(self, client: int, id_: Any) -> None:
        self.take(self.supervisor.said(client, {"jsonrpc": "2.0", "id": id_, "result": {}}, self.now))

    def call(self, client: int, id_: Any, tool: str = "add", **params: Any) -> None:
        self.say(client, "tools/call", id_, name=tool, **params)

    def run(self, client: int, id_: Any, tool: str = "add") -> None:
        """Call a tool, which the worker begins."""
        self.call(client, id_, tool)
        self.hear("took", client, id_)

    def cancel(self, client: int, id_: Any) -> None:
        self.say(client, "notifications/cancelled", requestId=id_)

    def hear(self, kind: str, *fields: Any, **message: Any) -> None:
        text = text_of(kind, *fields, message=json.dumps(message) if message else "")
        self.take(self.supervisor.heard(text, self.now))

    def later(self, seconds: float) -> None:
        """Let time pass, with a tick at each deadline."""
        until = self.now + seconds
        while (deadline := self.supervisor.deadline) is not None and deadline <= until:
            assert deadline >= self.now
            self.now = deadline
            self.take(self.supervisor.tick(self.now))
        self.now = until

    def posted(self) -> list[tuple[Any, ...]]:
        """Return what the worker has got since the last call: kind, fields, and the message's method and id."""
        texts = [read(output.text) for output in self.outputs if isinstance(output, Post)]
        found: list[tuple[Any, ...]] = []
        for kind, fields, message in texts:
            body = json.loads(message) if message else None
            found.append((kind, fields[0], body.get("method", "answer"), body.get("id")) if body else (kind, *fields))
        self.outputs = [output for output in self.outputs if not isinstance(output, Post)]
        return found

    def delivered(self) -> list[dict[str, Any]]:
        """Return what the clients have got since the last call."""
        found = [dict(output.message) for output in self.outputs if isinstance(output, Deliver)]
        assert [json.loads(output.text) for output in self.outputs if isinstance(output, Deliver)] == found
        self.outputs = [output for output in self.outputs if not isinstance(output, Deliver)]
        return found

    def others(self) -> list[Output]:
        """Return all other outputs since the last call."""
        found = [output for output in self.outputs if not isinstance(output, (Post, Deliver))]
        self.outputs = [output for output in self.outputs if isinstance(output, (Post, Deliver))]
        return found

    def is_ended(self) -> bool:
        return any(isinstance(output, Start) for output in self.others())


@pytest.fixture
def rig() -> Rig:
    """A supervisor whose worker is ready."""
    made = Rig()
    made.hear("ready", {})
    return made


def introduced(rig: Rig) -> int:
    """Return the number of a client that has been initialized."""
    client = rig.open()
    rig.say(client, "initialize", 0)
    rig.hear("took", client, 0)
    rig.hear("said", client, jsonrpc="2.0", id=0, result={})
    rig.say(client, "notifications/initialized")
    rig.posted(), rig.delivered()
    return client


def test_messages_go_both_ways(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.hear("said", client, jsonrpc="2.0", id=1, result={"content": []})
    assert rig.posted() == [("said", client, "tools/call", 1)]
    assert rig.delivered() == [{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}]
    rig.hear("said", client, jsonrpc="2.0", id=7, method="roots/list")
    assert rig.delivered() == [{"jsonrpc": "2.0", "id": 7, "method": "roots/list"}]
    rig.answer(client, 7)
    assert rig.posted() == [("said", client, "answer", 7)]


def test_a_ping_is_answered_while_the_worker_computes(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.posted()
    rig.say(client, "ping", "p")
    assert rig.delivered() == [{"jsonrpc": "2.0", "id": "p", "result": {}}]
    assert rig.posted() == []


def test_clients_come_before_the_worker_is_ready() -> None:
    rig = Rig()
    client = rig.open()
    rig.say(client, "initialize", 0)
    assert rig.posted() == []
    rig.hear("ready", {})
    assert rig.posted() == [("open", client, {}, None), ("said", client, "initialize", 0)]
    rig.hear("said", client, jsonrpc="2.0", id=0, result={})
    assert [message["id"] for message in rig.delivered()] == [0]


@pytest.mark.parametrize("late", [False, True])
def test_a_first_worker_that_does_not_serve_fails_its_requests(late: bool) -> None:
    rig = Rig()
    client = rig.open()
    rig.hear("begun")
    rig.say(client, "initialize", 0)
    if late:
        rig.later(WORKER_START_SECONDS)
    else:
        rig.take(rig.supervisor.ended("It cannot be imported.", rig.now))
    assert rig.others() == [End()]
    assert [(message["id"], message["error"]["code"]) for message in rig.delivered()] == [(0, -32000)]


def test_a_cancelled_call_of_a_loop_that_runs_ends_nothing(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.cancel(client, 1)
    *_, cancelled, (kind, number) = rig.posted()
    assert cancelled == ("said", client, "notifications/cancelled", None)
    assert kind == "ask"
    rig.hear("alive", number)
    rig.later(10 * GRACE)
    assert not rig.is_ended()
    rig.hear("said", client, jsonrpc="2.0", id=1, result={})
    assert rig.delivered() == []  # nobody waits for it


def test_a_cancelled_call_that_computes_ends_the_worker_after_the_grace_period(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.later(5)
    rig.others()
    rig.cancel(client, 1)
    rig.later(GRACE - 0.01)
    assert not rig.is_ended()
    rig.later(0.02)
    assert rig.is_ended()
    assert rig.delivered() == []
    assert rig.supervisor.generation == 2


def test_a_page_that_stood_still_waits_once_more(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.others()
    rig.cancel(client, 1)
    for _ in range(2):
        assert not rig.is_ended()
        rig.now += GRACE + 2 * LATE_SECONDS
        rig.take(rig.supervisor.tick(rig.now))
    assert rig.is_ended()


def test_a_worker_that_answers_a_page_that_stood_still_goes_on(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.cancel(client, 1)
    [number] = [number for kind, number, *_ in rig.posted() if kind == "ask"]
    rig.now += GRACE + 2 * LATE_SECONDS
    rig.take(rig.supervisor.tick(rig.now))
    rig.hear("alive", number)
    rig.later(10 * GRACE)
    assert not rig.is_ended()


def cancel_while_it_fetches(rig: Rig, *, before: bool) -> None:
    """Have a call cancelled while the worker fetches a file, which it begins before or after that."""
    client = introduced(rig)
    rig.run(client, 1)
    if before:
        rig.hear("fetches")
    rig.cancel(client, 1)
    if not before:
        rig.hear("fetches")


def check_end_in(rig: Rig, seconds: float) -> None:
    rig.later(seconds - 0.01)
    assert not rig.is_ended()
    rig.later(0.02)
    assert rig.is_ended()


@pytest.mark.parametrize("before", [True, False])
def test_a_worker_that_fetches_a_file_has_longer_but_not_for_ever(rig: Rig, before: bool) -> None:
    cancel_while_it_fetches(rig, before=before)
    rig.later(FETCH_SECONDS - 0.01)
    assert not rig.is_ended()
    rig.hear("fetches")  # it has longer once, as a loop could post this for ever
    rig.later(0.02)
    assert rig.is_ended()


@pytest.mark.parametrize("before", [True, False])
def test_a_worker_that_has_its_file_has_the_grace_period(rig: Rig, before: bool) -> None:
    cancel_while_it_fetches(rig, before=before)
    rig.later(GRACE + 1)
    rig.hear("fetched")
    rig.hear("fetches")  # another one
    rig.later(GRACE + 1)
    rig.hear("fetched")
    check_end_in(rig, GRACE)


def test_a_worker_that_has_fetched_a_file_earlier_has_the_grace_period(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.hear("fetches")
    rig.hear("fetched")
    rig.cancel(client, 1)
    check_end_in(rig, GRACE)


def test_a_worker_may_fetch_files_after_its_page_stood_still(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.cancel(client, 1)
    rig.now += 2 * FETCH_SECONDS
    rig.take(rig.supervisor.tick(rig.now))
    rig.hear("fetches")
    rig.later(GRACE + 1)
    rig.hear("fetched")
    check_end_in(rig, GRACE)


def test_no_fetch_shortens_a_long_grace_period() -> None:
    pulse = Pulse(3 * FETCH_SECONDS)
    pulse.ask(0.0, "cancelled")
    pulse.fetches(1.0)
    assert pulse.overdue(2.9 * FETCH_SECONDS) == ""
    assert pulse.overdue(3 * FETCH_SECONDS) == "cancelled"


def test_an_answer_to_an_earlier_question_does_not_save_it(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.later(PROBE_SECONDS)
    [probe] = [number for kind, number, *_ in rig.posted() if kind == "ask"]
    rig.cancel(client, 1)
    rig.hear("alive", probe)
    rig.later(GRACE)
    assert rig.is_ended()


def test_a_cancelled_call_that_only_waits_is_never_run(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1, "spin")
    rig.call(client, 2)
    rig.cancel(client, 2)
    rig.posted()
    rig.hear("asks", client, 2)  # once the worker comes to it
    assert rig.posted() == []
    rig.call(client, 3)
    rig.posted()
    rig.hear("asks", client, 3)
    assert rig.posted() == [("go", client, 3)]


@pytest.mark.parametrize("how", ["cancelled", "timed out", "left"])
def test_the_end_of_a_call_that_only_waits_ends_no_other(how: str) -> None:
    rig = Rig(slow=GRACE)
    rig.hear("ready", {})
    one, other = introduced(rig), introduced(rig)
    rig.run(one, 1, "spin")
    rig.call(other, 2, "slow")
    if how == "cancelled":
        rig.cancel(other, 2)
    elif how == "left":
        rig.take(rig.supervisor.left(other, rig.now))
    rig.later(9 * GRACE)
    assert not rig.is_ended()
    assert [message["id"] for message in rig.delivered()] == ([2] if how == "timed out" else [])


def test_a_call_that_was_cancelled_before_its_begin_was_known_ends_the_worker(rig: Rig) -> None:
    client = introduced(rig)
    rig.call(client, 1, "spin")
    rig.cancel(client, 1)
    rig.hear("took", client, 1)
    rig.later(GRACE)
    assert rig.is_ended()


def test_nothing_is_kept_of_calls_that_are_over(rig: Rig) -> None:
    client = introduced(rig)
    for id_ in range(9):
        token = {"_meta": {"progressToken": id_}}
        rig.hear("said", client, jsonrpc="2.0", id=id_, method="elicitation/create", params=token)
        if id_ % 2:
            rig.answer(client, id_)
        else:
            params = {"requestId": id_}
            rig.hear("said", client, jsonrpc="2.0", method="notifications/cancelled", params=params)
        rig.call(client, id_)
        rig.cancel(client, id_)
        rig.hear("asks", client, id_)
    [kept] = rig.supervisor._clients.values()
    assert [kept.calls, kept.asked, kept.tokens, rig.supervisor._dropped] == [{}, {}, {}, set()]


def test_another_worker_continues_the_sessions(rig: Rig) -> None:
    one, other = introduced(rig), introduced(rig)
    rig.say(other, "logging/setLevel", 8, level="info")
    rig.say(other, "resources/subscribe", 9, uri="a:b")
    rig.say(other, "resources/subscribe", 10, uri="c:d")
    rig.say(other, "resources/unsubscribe", 11, uri="c:d")
    for id_ in (8, 9, 10, 11):
        rig.hear("took", other, id_)
        rig.hear("said", other, jsonrpc="2.0", id=id_, result={})
    rig.run(one, 1, "spin")
    rig.call(other, 1)  # waits
    rig.run(other, 2, "slow")  # is handled beside it
    rig.say(other, "tools/list", 3)
    rig.hear("took", other, 3)
    rig.posted(), rig.delivered()
    rig.cancel(one, 1)
    rig.later(GRACE)
    assert rig.is_ended()
    [failed] = rig.delivered()
    assert (failed["id"], failed["error"]["code"]) == (2, -32000)
    assert failed["error"]["data"] == {"reason": "worker_ended", "mayHaveRun": True}
    rig.posted()
    rig.hear("ready", {})
    assert rig.posted() == [
        ("open", one, {}, None),
        ("said", one, "initialize", "mcpframe:replay/0"),
        ("said", one, "notifications/initialized", None),
        ("open", other, {}, None),
        ("said", other, "initialize", "mcpframe:replay/0"),
        ("said", other, "notifications/initialized", None),
        ("said", other, "logging/setLevel", "mcpframe:replay/2"),
        ("said", other, "resources/subscribe", "mcpframe:replay/3"),
        ("said", other, "tools/call", 1),
        ("said", other, "tools/list", 3),
    ]
    rig.hear("said", one, jsonrpc="2.0", id="mcpframe:replay/0", result={})
    assert rig.delivered() == []
    rig.hear("said", other, jsonrpc="2.0", id=1, result={})
    assert [message["id"] for message in rig.delivered()] == [1]


def test_an_introduction_that_has_no_answer_yet_is_repeated_as_it_was(rig: Rig) -> None:
    client = rig.open()
    rig.say(client, "initialize", 5)
    rig.hear("took", client, 5)
    rig.take(rig.supervisor.ended("It has crashed.", rig.now))
    assert rig.is_ended()
    rig.posted()
    rig.hear("ready", {})
    assert rig.posted() == [("open", client, {}, None), ("said", client, "initialize", 5)]


@pytest.mark.parametrize("late", [False, True])
def test_a_new_worker_that_does_not_serve_is_followed_by_one_only_for_a_request(rig: Rig, late: bool) -> None:
    client = introduced(rig)
    rig.run(client, 1, "spin")
    rig.cancel(client, 1)
    rig.later(GRACE)
    assert rig.is_ended()
    rig.call(client, 2)
    rig.say(client, "notifications/roots/list_changed")
    if late:
        rig.later(WORKER_START_SECONDS)
    else:
        rig.take(rig.supervisor.ended("It has crashed.", rig.now))
    assert rig.others() == [End()]
    [failed] = rig.delivered()
    assert (failed["id"], failed["error"]["code"]) == (2, -32000)
    assert failed["error"]["data"] == {"reason": "worker_failed", "mayHaveRun": False}
    assert rig.supervisor.deadline is None
    rig.say(client, "notifications/roots/list_changed")
    assert rig.others() == []
    rig.posted()
    rig.call(client, 3)
    assert rig.others() == [Start()]
    rig.call(client, 4)
    assert rig.others() == []
    rig.hear("ready", {})
    assert [entry[2:] for entry in rig.posted()[1:]] == [
        ("initialize", "mcpframe:replay/0"),
        ("notifications/initialized", None),
        ("tools/call", 3),
        ("tools/call", 4),
    ]


def test_a_client_that_leaves_while_there_is_no_worker(rig: Rig) -> None:
    client = introduced(rig)
    for _ in range(2):
        rig.take(rig.supervisor.ended("It has crashed.", rig.now))
    assert rig.others() == [Start(), End()]
    rig.take(rig.supervisor.left(client, rig.now))
    assert rig.others() == [Left(client)]


def test_requests_of_an_ended_worker_are_cancelled_and_later_ones_have_other_ids(rig: Rig) -> None:
    client = introduced(rig)
    rig.hear("said", client, jsonrpc="2.0", id=0, method="elicitation/create", params={"_meta": {"progressToken": 0}})
    rig.delivered()
    rig.take(rig.supervisor.ended("It has crashed.", rig.now))
    [cancelled] = rig.delivered()
    assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", 0)
    rig.hear("ready", {})
    rig.posted()
    rig.answer(client, 0)
    assert rig.posted() == []  # the new worker has not asked
    rig.hear("said", client, jsonrpc="2.0", id=0, method="elicitation/create", params={"_meta": {"progressToken": 0}})
    [asked] = rig.delivered()
    assert asked["id"] == asked["params"]["_meta"]["progressToken"] == "2/0"
    rig.say(client, "notifications/progress", progressToken="2/0", progress=1)
    [progress] = [output for output in rig.outputs if isinstance(output, Post)]
    assert json.loads(read(progress.text)[2])["params"]["progressToken"] == 0
    rig.posted()
    rig.answer(client, "2/0")
    assert rig.posted() == [("said", client, "answer", 0)]


def test_a_call_has_a_time_limit() -> None:
    rig = Rig(**{"slow": 3.0, "*": 9.0})
    rig.hear("ready", {})
    client = introduced(rig)
    for id_, tool in ((1, "slow"), (2, "add")):
        rig.run(client, id_, tool)
    rig.later(3)
    [failed] = rig.delivered()
    assert (failed["id"], failed["error"]["code"]) == (1, -32001)
    assert failed["error"]["data"] == {"reason": "timeout", "mayHaveRun": True}
    assert ("said", client, "notifications/cancelled", None) in rig.posted()
    rig.later(GRACE)
    assert rig.is_ended()
    [interrupted] = rig.delivered()
    assert interrupted["id"] == 2
    assert "'slow'" in interrupted["error"]["message"]


def test_a_time_limit_applies_to_tools_only() -> None:
    rig = Rig(**{"*": 1.0})
    rig.hear("ready", {})
    client = introduced(rig)
    rig.say(client, "prompts/list", 1)
    rig.later(60)
    assert rig.delivered() == []


def begun_task(rig: Rig, client: int, id_: int, user: str) -> str:
    """Return the id of a task that a call of a user has become."""
    rig.call(client, id_, "work", _meta={CALLER_KEY: {"user": user}})
    rig.hear("took", client, id_)
    result = {"resultType": "task", "taskId": f"task {id_}", "status": "working"}
    rig.hear("said", client, jsonrpc="2.0", id=id_, result=result)
    return f"task {id_}"


def cancel_task(rig: Rig, client: int, id_: int, task: str, user: str) -> None:
    rig.say(client, "tasks/cancel", id_, taskId=task, _meta={CALLER_KEY: {"user": user}})


def test_a_cancelled_task_that_computes_ends_the_worker(rig: Rig) -> None:
    client = introduced(rig)
    task = begun_task(rig, client, 1, "Ada")
    rig.run(client, 2)
    rig.delivered()
    cancel_task(rig, client, 3, task, "Ada")
    rig.say(client, "tasks/get", 4, taskId=task)
    rig.later(GRACE)
    assert rig.is_ended()
    cancelled, failed = rig.delivered()
    assert cancelled == {"jsonrpc": "2.0", "id": 3, "result": {"resultType": "complete"}}
    assert (failed["id"], failed["error"]["data"]) == (2, {"reason": "worker_ended", "mayHaveRun": True})
    rig.posted()
    rig.hear("ready", {})
    asked = [("said", client, "tasks/get", 4)]  # the new worker says that it does not have the task
    assert [each for each in rig.posted() if each[2:] and each[3] == 4] == asked
    cancel_task(rig, client, 5, task, "Ada")
    rig.later(GRACE * 2)
    assert not rig.is_ended()


def test_a_cancelled_task_of_a_loop_that_runs_ends_nothing(rig: Rig) -> None:
    client = introduced(rig)
    task = begun_task(rig, client, 1, "")
    rig.posted()
    cancel_task(rig, client, 2, task, "")
    [said, (kind, number)] = rig.posted()
    assert (said, kind) == (("said", client, "tasks/cancel", 2), "ask")
    rig.hear("took", client, 2)
    rig.hear("said", client, jsonrpc="2.0", id=2, result={"resultType": "complete"})
    rig.hear("alive", number)
    rig.later(GRACE * 5)
    assert not rig.is_ended()


@pytest.mark.parametrize("taken", [False, True], ids=["it waits", "the task has begun before its answer"])
def test_a_task_that_computes_is_reported(rig: Rig, *, taken: bool) -> None:
    client = introduced(rig)
    task = begun_task(rig, client, 1, "")
    rig.say(client, "tasks/get", 2, taskId=task)
    if taken:
        rig.hear("took", client, 2)
    rig.later(PROBE_SECONDS * 3)
    [computing] = rig.others()
    assert isinstance(computing, Computing)
    assert computing.tools == ("work",)


@pytest.mark.parametrize(("task", "user"), [("task 1", "Bob"), ("task 1", ""), ("task 2", "Ada"), (["task 1"], "Ada")])
def test_who_has_no_such_task_ends_no_worker(rig: Rig, task: Any, user: str) -> None:
    client = introduced(rig)
    begun_task(rig, client, 1, "Ada")
    cancel_task(rig, client, 2, task, user)
    rig.later(GRACE * 5)
    assert not rig.is_ended()


def test_few_tasks_are_remembered(rig: Rig) -> None:
    client = introduced(rig)
    for id_ in range(1100):
        begun_task(rig, client, id_, "")
    assert len(rig.supervisor._clients[client].tasks) == 1000


def test_a_person_stops_what_is_handled(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1, "spin")
    rig.call(client, 2)
    rig.take(rig.supervisor.stopped(rig.now))
    [failed] = rig.delivered()
    assert (failed["id"], failed["error"]["data"]["reason"]) == (1, "stopped")
    rig.later(GRACE)
    assert rig.is_ended()
    assert rig.delivered() == []  # the other one is run by the next worker
    rig.posted()
    rig.hear("ready", {})
    assert ("said", client, "tools/call", 2) in rig.posted()


def test_stopping_nothing_does_nothing(rig: Rig) -> None:
    introduced(rig)
    rig.take(rig.supervisor.stopped(rig.now))
    assert rig.outputs == []


def test_a_client_that_leaves_a_tool_that_computes_ends_the_worker(rig: Rig) -> None:
    client, other = introduced(rig), introduced(rig)
    rig.run(client, 1, "spin")
    rig.take(rig.supervisor.left(client, rig.now))
    assert ("close", client) in rig.posted()
    rig.later(GRACE)
    assert [type(output) for output in rig.others()] == [Start, Left]
    rig.posted()
    rig.hear("ready", {})
    assert {entry[1] for entry in rig.posted()} == {other}


def test_a_client_that_leaves_is_gone_once_the_worker_says_so(rig: Rig) -> None:
    client = introduced(rig)
    rig.take(rig.supervisor.left(client, rig.now))
    assert rig.others() == []
    rig.hear("closed", client)
    assert rig.others() == [Left(client)]
    rig.later(2 * PROBE_SECONDS)
    assert rig.supervisor.deadline is None


def test_a_client_that_leaves_before_the_worker_is_ready() -> None:
    rig = Rig()
    client = rig.open()
    rig.take(rig.supervisor.left(client, rig.now))
    assert rig.others() == [Left(client)]
    rig.hear("ready", {})
    assert rig.posted() == []


def test_a_tool_that_computes_is_reported_and_those_who_wait_are_told(rig: Rig) -> None:
    client = introduced(rig)
    began = rig.now
    rig.run(client, 1, "spin")
    rig.call(client, 2, _meta={"progressToken": "t"})
    rig.later(PROBE_SECONDS)
    assert rig.delivered() == []
    rig.later(PROBE_SECONDS)
    assert rig.others() == [Computing(("spin",), began + PROBE_SECONDS)]
    [told] = rig.delivered()
    assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", "t")
    assert "spin" in told["params"]["message"]
    rig.later(60)
    assert rig.delivered() == rig.others() == []  # once
    [number] = [number for kind, number, *_ in rig.posted() if kind == "ask"]
    rig.hear("said", client, jsonrpc="2.0", id=1, result={})
    rig.hear("alive", number)
    assert rig.others() == [Computing((), rig.now)]


def test_a_loop_that_runs_is_not_reported(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1, "wait")
    for _ in range(5):
        rig.later(PROBE_SECONDS)
        for kind, number, *_ in rig.posted():
            if kind == "ask":
                rig.hear("alive", number)
    assert rig.others() == []


def test_problems_are_passed_on(rig: Rig) -> None:
    rig.hear("problem", "It has ended.", "Traceback")
    assert rig.others() == [Problem("It has ended.", "Traceback")]


def test_late_texts_for_clients_that_have_left_are_dropped(rig: Rig) -> None:
    client = introduced(rig)
    rig.take(rig.supervisor.left(client, rig.now))
    rig.posted()
    rig.hear("said", client, jsonrpc="2.0", method="notifications/message", params={})
    rig.hear("took", client, 3)
    rig.hear("asks", client, 3)
    rig.hear("closed", client)
    rig.hear("closed", client)
    rig.hear("said", client, jsonrpc="2.0", id=3, result={})
    assert rig.posted() == []
    assert rig.outputs == [Left(client)]


def test_an_id_that_is_in_use_is_refused_and_the_call_goes_on(rig: Rig) -> None:
    client = introduced(rig)
    rig.run(client, 1)
    rig.posted()
    rig.call(client, 1, "other")
    [refused] = rig.delivered()
    assert (refused["id"], refused["error"]["code"]) == (1, -32600)
    assert not rig.posted()
    rig.take(rig.supervisor.stopped(rig.now))
    assert rig.delivered()[-1]["error"]["data"] == {"reason": "stopped", "mayHaveRun": True}


@pytest.mark.parametrize("how", ["cancelled", "timed out", "left", "stopped"])
def test_a_worker_that_never_takes_a_call_is_ended_with_it(how: str) -> None:
    rig = Rig(slow=GRACE)
    rig.hear("ready", {})
    one, other = introduced(rig), introduced(rig)
    rig.call(one, 1, "slow" if how == "timed out" else "add")
    rig.later(2 * PROBE_SECONDS)
    if how == "timed out":
        assert [message["error"]["data"]["mayHaveRun"] for message in rig.delivered()] == [False]
    else:
        assert rig.others() == [Computing((), rig.now - PROBE_SECONDS)]
        assert not rig.is_ended()
    rig.call(other, 2)
    if how == "cancelled":
        rig.cancel(one, 1)
    elif how == "left":
        rig.take(rig.supervisor.left(one, rig.now))
    elif how == "stopped":
        rig.take(rig.supervisor.stopped(rig.now))
    rig.later(GRACE)
    assert rig.is_ended()
    rig.posted()
    rig.hear("ready", {})
    calls = [entry for entry in rig.posted() if "tools/call" in entry]
    assert calls == ([("said", one, "tools/call", 1)] if how == "stopped" else []) + [("said", other, "tools/call", 2)]


def test_a_session_that_the_worker_ends_fails_and_begins_anew_with_the_next_request(rig: Rig) -> None:
    client = introduced(rig)
    rig.hear("said", client, jsonrpc="2.0", id=5, method="elicitation/create", params={})
    rig.run(client, 1)
    rig.call(client, 2)
    rig.posted(), rig.delivered()
    rig.hear("closed", client)
    rig.hear("closed", client)
    assert [(message.get("id"), message.get("error", {}).get("data")) for message in rig.delivered()] == [
        (1, {"reason": "session_ended", "mayHaveRun": True}),
        (2, {"reason": "session_ended", "mayHaveRun": False}),
        (None, None),  # the cancellation of what the server had asked
    ]
    rig.say(client, "notifications/roots/list_changed")
    rig.answer(client, 5)
    assert rig.posted() == rig.others() == []
    rig.call(client, 3)
    assert rig.posted() == [
        ("open", client, {}, None),
        ("said", client, "initialize", "mcpframe:replay/0"),
        ("said", client, "notifications/initialized", None),
        ("said", client, "tools/call", 3),
    ]
    rig.hear("closed", client)
    rig.take(rig.supervisor.left(client, rig.now))
    assert rig.others() == [Left(client)]


FORGED = [
    *(
        "",
        "hello",
        "[]",
        "{}",
        "[[]]",
        "[1]",
        "null",
        '["said"]',
        '["said", "1"]',
        '["said", 1]\n[]',
        '["said", 1]\n{}',
    ),
    *('["said", 1]\n{"jsonrpc": "2.0", "id": {}, "result": {}}', '["took", 1, {}]', '["asks", 1]', '["took", 1, 2.5]'),
    *('["alive"]', '["alive", 99]', '["ready", 3]', '["ready", {}]', '["begun"]', '["begun", 1]', '["closed", 7]'),
    *('["closed", []]', '["problem"]', '["no such kind", 1]', '["go", 1, 1]', '["took", 9, 9]', "[" * 100_000),
]


@pytest.mark.parametrize("text", FORGED)
def test_a_text_that_other_code_in_the_worker_posts_changes_nothing(rig: Rig, text: str) -> None:
    client = introduced(rig)
    assert rig.supervisor.heard(text, rig.now) == []
    rig.later(2 * WORKER_START_SECONDS)
    assert not rig.is_ended()
    rig.run(client, 1)
    rig.hear("said", client, jsonrpc="2.0", id=1, result={})
    assert [message["id"] for message in rig.delivered()] == [1]
