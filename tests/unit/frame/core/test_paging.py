"""A walk through a list in pages ends, whatever the server answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.core.paging import Paging


def walk(cursors: list[Any], most: int = 5) -> tuple[list[dict[str, Any]], bool]:
    pages, asked = Paging(most), []
    while pages.more:
        asked.append(pages.params)
        pages.follow(cursors[len(asked) - 1] if len(asked) <= len(cursors) else None)
    return asked, pages.endless


@pytest.mark.parametrize(
    ("cursors", "asked", "endless"),
    [
        ([None], 1, False),
        (["a", "b", None], 3, False),
        (["", None], 2, False),
        ([7], 1, False),
        (["a", "a", None], 2, True),
        (["a", "b", "a"], 3, True),
        (["a", "b", "c", "d", "e", "f"], 5, True),
    ],
)
def test_a_list_ends_without_a_cursor_or_with_one_that_came_before(
    cursors: list[Any], asked: int, endless: bool
) -> None:
    requests, gave_up = walk(cursors)
    assert (len(requests), gave_up) == (asked, endless)
    assert requests[0] == {}
    assert [request["cursor"] for request in requests[1:]] == cursors[: asked - 1]


@given(st.lists(st.none() | st.text(max_size=2) | st.integers(), max_size=20), st.integers(1, 10))
def test_no_walk_is_longer_than_its_limit_or_asks_twice(cursors: list[Any], most: int) -> None:
    requests, _ = walk(cursors, most)
    assert len(requests) <= most
    assert len({request.get("cursor") for request in requests}) == len(requests)
