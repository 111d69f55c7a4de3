"""Ready callbacks in one trip: order, time, suspension and what ends a trip. On Pyodide's loop: tests/in_pyodide."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mcpframe.frame.compat.batching import BUDGET, batch_callbacks, call_after_turn, call_when_idle


class BrowserLoop(asyncio.AbstractEventLoop):
    """As much of Pyodide's loop as matters: every `call_later` is a task of the browser, run by the test."""

    def __init__(self) -> None:
        self.tasks: deque[Callable[[], object]] = deque()
        self.delays: list[float] = []
        self.trips = 0
        self.now = 0.0
        self.problems: list[dict[str, Any]] = []

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> Any:
        assert delay >= 0, "Can't schedule in the past"  # as Pyodide's loop has it
        self.delays.append(delay)
        self.tasks.append(callback)

    def time(self) -> float:
        return self.now

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.problems.append(context)

    def run(self) -> None:
        while self.tasks:
            self.trips += 1
            self.tasks.popleft()()


@pytest.fixture
def loop() -> Iterator[BrowserLoop]:
    loop = BrowserLoop()
    batch_callbacks(loop, clock=lambda: loop.now)
    return loop


def test_what_is_ready_runs_in_order_in_few_trips(loop: BrowserLoop) -> None:
    ran: list[int] = []

    def chain(number: int) -> None:
        ran.append(number)
        if number < 100:
            loop.call_soon(chain, number + 1)

    loop.call_soon(chain, 1)
    loop.run()
    assert ran == list(range(1, 101))
    assert loop.trips == 2  # the second found nothing to do
    for number in range(50):
        loop.call_soon(ran.append, number)
    loop.run()
    assert ran[100:] == list(range(50))
    assert loop.trips <= 4


def test_a_trip_gives_way_after_its_time(loop: BrowserLoop) -> None:
    ran: list[int] = []

    def slow(number: int) -> None:
        loop.now += BUDGET / 2
        ran.append(number)

    for number in range(6):
        loop.call_soon(slow, number)
    loop.tasks.popleft()()
    assert ran == [0, 1]
    loop.run()
    assert ran == [0, 1, 2, 3, 4, 5]


def test_a_callback_that_is_suspended_holds_nobody_up(loop: BrowserLoop) -> None:
    """`run_sync` lets the browser go on in the middle of a callback; here the callback itself runs the next task."""
    ran: list[str] = []

    def suspended() -> None:
        loop.tasks.popleft()()
        ran.append("resumed")

    loop.call_soon(suspended)
    loop.call_soon(ran.append, "other")
    loop.run()
    assert ran == ["other", "resumed"]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_what_would_end_the_process_is_reported_and_ends_no_trip(loop: BrowserLoop, error: type[BaseException]) -> None:
    ran: list[str] = []

    def leave() -> None:
        raise error

    loop.call_soon(leave)
    loop.call_soon(ran.append, "next")
    loop.run()
    assert ran == ["next"]
    [problem] = loop.problems
    assert isinstance(problem["exception"], error)
    assert error.__name__ in problem["message"]


def test_errors_go_to_the_exception_handler_and_cancelled_callbacks_do_not_run(loop: BrowserLoop) -> None:
    ran: list[str] = []
    loop.call_soon(lambda: 1 / 0)
    loop.call_soon(ran.append, "cancelled").cancel()
    loop.call_soon(ran.append, "next")
    loop.run()
    assert ran == ["next"]
    [problem] = loop.problems
    assert isinstance(problem["exception"], ZeroDivisionError)


def test_a_timer_for_a_time_that_is_past_is_due_at_once(loop: BrowserLoop) -> None:
    ran: list[str] = []
    loop.now = 5.0
    loop.call_at(4.999, ran.append, "past")
    loop.call_at(7.0, ran.append, "later")
    assert loop.delays == [0, 2.0]
    assert len(loop.tasks) == 2


def test_what_waits_for_an_idle_loop_runs_in_the_trip_that_leaves_nothing_ready(loop: BrowserLoop) -> None:
    ran: list[str | int] = []
    call_when_idle(loop, lambda: ran.append("idle"), 30)

    def chain(number: int) -> None:
        ran.append(number)
        if number < 10:
            loop.call_soon(chain, number + 1)

    loop.call_soon(chain, 1)
    loop.run()
    assert ran == [*range(1, 11), "idle"]
    assert loop.trips == 2
    call_when_idle(loop, lambda: ran.append("again"), 30)
    loop.run()
    assert ran[-1] == "again"


@pytest.mark.parametrize("others", [1, 5])
def test_a_loop_that_is_never_idle_holds_what_waits_back_for_a_number_of_rounds(loop: BrowserLoop, others: int) -> None:
    ran: list[str] = []

    def spin() -> None:
        ran.append("spin")
        if len(ran) < 500:
            loop.call_soon(spin)

    for _ in range(others):
        loop.call_soon(spin)
    call_when_idle(loop, lambda: ran.append("idle"), 30)
    loop.run()
    assert ran.index("idle") == 30 * others


def test_what_comes_after_a_turn_and_what_it_makes_ready_is_one_trip(loop: BrowserLoop) -> None:
    ran: list[str] = []

    def begin() -> None:
        ran.append("after a turn")
        loop.call_soon(ran.append, "ready")

    call_after_turn(loop, begin)
    loop.call_soon(ran.append, "before")
    loop.tasks.popleft()()
    assert ran == ["before", "after a turn", "ready"]
    loop.run()
    assert loop.trips == 1  # it was coming for the first callback, and found nothing to do


def test_what_is_suspended_after_a_turn_holds_nobody_up(loop: BrowserLoop) -> None:
    ran: list[str] = []

    def suspended() -> None:
        loop.call_soon(ran.append, "ready")
        loop.run()
        ran.append("resumed")

    call_after_turn(loop, suspended)
    loop.run()
    assert ran == ["ready", "resumed"]


async def test_a_loop_without_batches_has_turns_and_counts_callbacks() -> None:
    loop, ran = asyncio.get_running_loop(), []
    call_when_idle(loop, lambda: ran.append("idle"), 3)
    call_after_turn(loop, lambda: ran.append("after a turn"))
    for number in range(6):
        ran.append(str(number))
        await asyncio.sleep(0)
    assert "after a turn" in ran
    assert ran.index("2") < ran.index("idle") < ran.index("4")


def test_a_trip_on_the_page_s_own_stack_runs_nothing_once_that_is_over() -> None:
    loop, spared, ran = BrowserLoop(), True, []

    def trip_of(name: str) -> None:
        ran.append((name, loop.trips))

    def over() -> None:
        nonlocal spared
        spared = False
        loop.call_soon(trip_of, "author")

    batch_callbacks(loop, clock=lambda: loop.now, is_spared=lambda: spared)
    loop.call_soon(trip_of, "wait")
    loop.call_soon(over)
    loop.call_soon(trip_of, "author")
    loop.run()
    (_, waited), *others = ran
    assert all(trip > waited for _, trip in others)
    assert [name for name, _ in ran] == ["wait", "author", "author"]
