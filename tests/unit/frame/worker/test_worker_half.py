"""The worker's half: requests that have waited, and what a new worker gets of an earlier one."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from mcpframe.frame.serving.server import messages
from mcpframe.frame.worker.port import REPLAY, STALE_SECONDS, read, text_of
from mcpframe.frame.worker.worker_half import WorkerHalf

pytestmark = pytest.mark.anyio


class Worker:
    """A program with one client, and what it has posted."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, list[Any]]] = []
        self.program = WorkerHalf(self._serve, messages(), self._post)
        self.closed = anyio.Event()
        self.take("open", 1, {}, None)

    async def _serve(self, read_stream: Any, *_: Any) -> None:
        async for _message in read_stream:
            pass

    def _post(self, text: str) -> None:
        self.posted.append(read(text)[:2])
        if self.posted[-1][0] == "closed":
            self.closed.set()

    def take(self, kind: str, *fields: Any, **message: Any) -> None:
        """Handle a text that was posted a while ago."""
        text = text_of(kind, *fields, message=json.dumps({"jsonrpc": "2.0", **message}) if message else "")
        self.program.take(f"{time.time() - 2 * STALE_SECONDS}\n{text}")


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    yield worker
    worker.take("close", 1)
    with anyio.fail_after(30):
        await worker.closed.wait()


async def test_a_request_that_has_waited_is_asked_about(worker: Worker) -> None:
    worker.take("said", 1, id=7, method="tools/list")
    worker.take("go", 1, 7)
    assert worker.posted == [("asks", [1, 7]), ("took", [1, 7])]


async def test_nothing_is_kept_of_a_request_that_was_cancelled_while_it_waited(worker: Worker) -> None:
    worker.take("said", 1, id=7, method="tools/list")
    worker.take("said", 1, method="notifications/cancelled", params={"requestId": 7})
    worker.take("go", 1, 7)
    assert worker.posted == [("asks", [1, 7])]
    assert worker.program._held == {}


async def test_the_introduction_of_a_client_is_handled_however_long_it_has_waited(worker: Worker) -> None:
    worker.take("said", 1, id=f"{REPLAY}0", method="resources/subscribe", params={"uri": "a:b"})
    assert worker.posted == [("took", [1, f"{REPLAY}0"])]


async def test_a_session_that_is_open_is_not_opened_again(worker: Worker) -> None:
    worker.take("said", 1, id=f"{REPLAY}0", method="tools/list")
    worker.take("open", 1, {}, None)
    worker.take("said", 1, id=f"{REPLAY}1", method="tools/list")
    assert worker.posted == [("took", [1, f"{REPLAY}0"]), ("took", [1, f"{REPLAY}1"])]


class Failing(Worker):
    """A program whose server fails with the first message."""

    async def _serve(self, read_stream: Any, *_: Any) -> None:
        async for _message in read_stream:
            raise LookupError("no such thing")


async def test_a_session_that_fails_is_reported_and_its_late_requests_are_answered() -> None:
    worker = Failing()
    worker.take("said", 1, method="notifications/initialized")
    with anyio.fail_after(30):
        await worker.closed.wait()
    worker.take("said", 1, id=f"{REPLAY}0", method="tools/list")
    (problem, [title, detail]), *others = worker.posted
    assert problem == "problem"
    assert "LookupError: no such thing" in title
    assert "Traceback" in detail
    assert [kind for kind, _ in others] == ["closed", "took", "said"]
