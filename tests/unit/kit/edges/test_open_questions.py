"""Open questions are counted until they are answered, or too old or too many."""

from __future__ import annotations

from mcpframe.kit.edges.http import open_questions as module
from mcpframe.kit.edges.http.open_questions import SECONDS, OpenQuestions


def test_a_question_is_open_until_its_answer_or_its_time() -> None:
    now = 0.0
    open_questions = OpenQuestions(lambda: now)
    for state in ("a", "b", "a"):
        now += 1
        open_questions.asked(state)
    assert len(open_questions) == 2
    open_questions.answered("b")
    open_questions.answered("unknown")
    assert len(open_questions) == 1
    now = 3 + SECONDS - 0.5  # "a" was asked again at 3
    assert len(open_questions) == 1
    now += 0.5
    assert not open_questions


def test_the_oldest_of_too_many_questions_is_forgotten() -> None:
    open_questions = OpenQuestions(lambda: 0.0)
    for number in range(module._MOST + 1):
        open_questions.asked(str(number))
    assert len(open_questions) == module._MOST
    open_questions.answered("0")
    assert len(open_questions) == module._MOST
    open_questions.answered("1")
    assert len(open_questions) == module._MOST - 1
