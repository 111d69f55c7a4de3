"""The one line of a long step."""

from __future__ import annotations

import re

import pytest

from mcpframe.kit.base.progress import labelled, silent, step


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
