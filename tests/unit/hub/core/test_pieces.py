"""Text in pieces: joined it is the same, and what is too long is dropped as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.core.errors import MessageTooLarge
from mcpframe.hub.core.pieces import Joiner, cut_marked


@given(st.lists(st.text()), st.integers(1, 9))
def test_texts_are_joined_one_after_another(texts: list[str], longest: int) -> None:
    joiner = Joiner(1000, 1000)
    pieces = [list(cut_marked(text, longest)) for text in texts]
    assert all(len(piece) <= longest + 1 for each in pieces for piece in each)
    joined = [joiner.add_marked(piece) for each in pieces for piece in each]
    assert [text for text in joined if text is not None] == texts


@pytest.mark.parametrize("pieces", [["+12345", "+67890", "+1"], ["+", "+", "+"]])
def test_a_text_over_a_limit_is_dropped(pieces: list[str]) -> None:
    joiner = Joiner(10, 2)
    for piece in pieces[:-1]:
        assert joiner.add_marked(piece) is None
    with pytest.raises(MessageTooLarge):
        joiner.add_marked(pieces[-1])
    assert joiner.add_marked(".next") == "next"
