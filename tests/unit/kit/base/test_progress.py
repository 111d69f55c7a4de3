"""The one line of a long step."""

from __future__ import annotations

import re

import pytest

from mcpframe.kit.base import progress
from mcpframe.kit.base.progress import count, counting, labelled, silent, step


def test_a_step_says_what_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    with step("Doing it"):
        pass
    assert re.fullmatch(r"Doing it \.\.\. \d+\.\d s\n", capsys.readouterr().err)


def test_a_failed_step_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), step("Doing it"):
        raise ValueError("no")
    assert capsys.readouterr().err == "Doing it ... failed\n"


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    with silent("Doing it"):
        pass
    assert capsys.readouterr().err == ""


def test_a_label_says_what_the_steps_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    with labelled("The inspector", step)("Fetching wheels"):
        pass
    assert capsys.readouterr().err.startswith("The inspector: fetching wheels ... ")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_step_counts_once_a_second_after_the_first(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with step("Fetching wheels"):
        for done in range(6):
            count(done, 29)
            clock.now += 0.5
    assert capsys.readouterr().err == "Fetching wheels ... 2/29 ... 4/29 ... 3.0 s\n"


def test_a_count_belongs_to_the_innermost_step(clock: Clock) -> None:
    outer: list[str] = []
    inner: list[str] = []
    with counting(outer.append):
        with counting(inner.append):
            clock.now += 1
            count(1, 2)
        count(2, 3)
    clock.now += 1
    count(3, 3)  # no step
    assert (outer, inner) == (["2/3"], ["1/2"])
