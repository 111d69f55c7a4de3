"""The diagram's source, its last author and its history."""

import pytest

from diagram import Diagram


def test_an_edit_is_told_once():
    diagram = Diagram("a")
    assert diagram.edit("b")
    assert diagram.take_edits()
    assert not diagram.take_edits()


def test_typing_the_same_is_no_edit():
    diagram = Diagram("a")
    assert not diagram.edit("a")
    assert not diagram.take_edits()


def test_what_the_model_draws_is_no_edit():
    diagram = Diagram("a")
    diagram.edit("b")
    diagram.replace("c")
    assert not diagram.take_edits()


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_however_lines_end_a_textarea_that_shows_them_is_no_edit(end):
    drawn = f"pie{end}  a: 1{end}"
    diagram = Diagram(drawn)
    assert not diagram.edit("pie\n  a: 1\n")
    diagram.replace("b")
    diagram.replace(drawn)
    assert not diagram.edit("pie\n  a: 1\n")
    diagram.code = drawn
    assert diagram.code == "pie\n  a: 1\n"
    assert not diagram.edit(drawn)
    assert not diagram.take_edits()


def test_undo_goes_back_over_changes_of_both():
    diagram = Diagram("a")
    diagram.edit("b")
    diagram.replace("c")
    assert [diagram.undo(), diagram.code] == [True, "b"]
    assert [diagram.undo(), diagram.code] == [True, "a"]
    assert not diagram.undo()
    assert diagram.take_edits()


def test_the_history_has_an_end():
    diagram = Diagram("0")
    for number in range(200):
        diagram.edit(str(number + 1))
    steps = 0
    while diagram.undo():
        steps += 1
    assert (steps, diagram.code) == (50, "150")
