"""The time limits of a page of the build, which says itself how far it is."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.snapshot.boot import IMPORTING, PATIENCE, SILENCE
from mcpframe.kit.bundle.snapshot.time_limits import TimeLimits


class Clock:
    """A clock that stands still until it is set."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(clock: Clock) -> TimeLimits:
    return TimeLimits(clock)


def test_the_start_of_a_page_and_its_job_have_a_limit_each(limits: TimeLimits, clock: Clock) -> None:
    clock.now += PATIENCE
    assert limits.overdue() == ""
    limits.allow(5)
    clock.now += 5
    assert limits.overdue() == ""
    clock.now += 1
    assert limits.overdue() == "it does not answer in 5 seconds"


def test_each_module_has_a_limit(limits: TimeLimits, clock: Clock) -> None:
    for module in ("numpy", "pandas"):
        limits.imports(module)
        clock.now += SILENCE
        assert limits.overdue() == ""
    clock.now += 1
    assert limits.overdue() == f"it does not answer in {SILENCE:g} seconds while it imports pandas"
    limits.imports("")
    clock.now += PATIENCE
    assert limits.overdue() == ""


@pytest.mark.parametrize("module", ["more", ""])
def test_a_page_that_never_stops_importing_is_stopped(limits: TimeLimits, clock: Clock, module: str) -> None:
    began = clock.now
    while not limits.overdue():
        limits.imports(module)
        clock.now += SILENCE / 2
    assert clock.now - began <= IMPORTING + SILENCE
    assert f"longer than {IMPORTING:g} seconds" in limits.overdue()
