"""Arguments as a view sees them while a model writes them: every piece is an object."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.hosting.mcp_apps.partial_arguments import heal, partial_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_what_a_view_sees() -> None:
    arguments = {"place": "Wien", "days": 12, "units": ["°C", "mm"]}
    assert list(partial_arguments(arguments, 7)) == [
        {"place": "Wie"},
        {"place": "Wien"},
        {"place": "Wien", "days": 12},
        {"place": "Wien", "days": 12, "units": ["°C"]},
    ]


@pytest.mark.parametrize(
    ("text", "healed"),
    [
        ("{", {}),
        ('{"a', {}),
        ('{"a": tr', {}),
        ('{"a": "b\\', {"a": "b"}),
        ('{"a": "b\\u00', {"a": "b"}),
        ('{"a": [{"b": "}', {"a": [{"b": "}"}]}),
        ('{"a": 1, ', {"a": 1}),
        ("", {}),
    ],
)
def test_an_open_text_is_closed(text: str, healed: Any) -> None:
    assert heal(text) == healed


@given(st.dictionaries(st.text(), JSON, max_size=4), st.integers(1, 40))
def test_any_arguments(arguments: dict[str, Any], steps: int) -> None:
    pieces = list(partial_arguments(arguments, steps))
    assert all(isinstance(piece, dict) for piece in pieces)
    assert arguments not in pieces
    assert all(before != after for before, after in itertools.pairwise(pieces))
    assert all(set(piece) <= set(arguments) for piece in pieces)
    assert heal(json.dumps(arguments)) == arguments
