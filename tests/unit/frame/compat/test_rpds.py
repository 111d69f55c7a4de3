"""The stand-in for rpds-py against rpds-py: the same operations give the same results and the same errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import rpds as real
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame.compat import rpds as stand_in

# no "" next to 0: rpds-py panics where keys with the same hash cannot be compared
KEYS = st.one_of(st.text("ab", max_size=2), st.tuples(st.text("ab", max_size=1), st.just("x")))
VALUES = st.one_of(st.integers(), st.text(max_size=3))
PAIRS = st.lists(st.tuples(KEYS, VALUES), max_size=6)

MAP_STEPS = st.one_of(
    st.tuples(st.just("insert"), KEYS, VALUES),
    st.tuples(st.sampled_from(["remove", "discard"]), KEYS),
    st.tuples(st.just("update"), PAIRS),
    st.tuples(st.just("update"), PAIRS.map(dict), PAIRS),
)
SET_STEPS = st.one_of(
    st.tuples(st.sampled_from(["insert", "remove", "discard"]), KEYS),
    st.tuples(st.just("update"), st.lists(KEYS, max_size=3), st.lists(KEYS, max_size=3)),
)
LIST_STEPS = st.one_of(
    st.tuples(st.just("push_front"), VALUES),
    st.tuples(st.sampled_from(["drop_first", "__reversed__", "rest", "first"])),
)


def take(target: Any, name: str, arguments: list[Any]) -> Any:
    """Call a method, or read a property."""
    attribute = getattr(target, name)
    return attribute(*arguments) if callable(attribute) else attribute


def outcome(function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Return the result of a call, or its exception."""
    try:
        return "gave", function(*arguments)
    except (KeyError, IndexError, TypeError) as error:
        return type(error).__name__, None


def walk(pair: tuple[Any, Any], steps: list[tuple[Any, ...]], contents: Callable[[Any], object]) -> None:
    """Take the same steps on both and compare after each; a step that raises changes nothing."""
    theirs, ours = pair
    for name, *arguments in steps:
        before = contents(ours)
        expected, found = outcome(take, theirs, name, arguments), outcome(take, ours, name, arguments)
        assert found[0] == expected[0]
        assert contents(ours) == before, "immutable"
        if found[0] == "gave" and type(found[1]).__name__ in ("HashTrieMap", "HashTrieSet", "List"):
            theirs, ours = expected[1], found[1]
            assert type(ours).__module__ == stand_in.__name__
        else:
            assert found[1] == expected[1]
        assert contents(ours) == contents(theirs)
        assert len(ours) == len(theirs)
        assert bool(ours) == bool(theirs)


@given(PAIRS, st.lists(MAP_STEPS, max_size=8))
def test_maps_behave_alike(start, steps):
    walk((real.HashTrieMap(start), stand_in.HashTrieMap(start)), steps, dict)


@given(st.lists(KEYS, max_size=6), st.lists(SET_STEPS, max_size=8))
def test_sets_behave_alike(start, steps):
    walk((real.HashTrieSet(start), stand_in.HashTrieSet(start)), steps, set)


@given(st.lists(VALUES, max_size=4), st.lists(LIST_STEPS, max_size=8))
def test_lists_behave_alike(start, steps):
    walk((real.List(start), stand_in.List(start)), steps, list)


@given(PAIRS, PAIRS, KEYS)
def test_reading_a_map_is_alike(one, other, key):
    left, right = real.HashTrieMap(one), real.HashTrieMap(other)
    ours_left, ours_right = stand_in.HashTrieMap(one), stand_in.HashTrieMap(other)
    assert (ours_left == ours_right) == (left == right)
    assert (key in ours_left) == (key in left)
    assert ours_left.get(key, "none") == left.get(key, "none")
    assert outcome(take, ours_left, "__getitem__", [key]) == outcome(take, left, "__getitem__", [key])
    assert sorted(map(repr, ours_left)) == sorted(map(repr, left))
    assert set(ours_left.items()) == set(left.items())
    assert sorted(map(repr, ours_left.values())) == sorted(map(repr, left.values()))
    assert set(ours_left.keys()) == set(left.keys())


@given(st.lists(KEYS), st.lists(KEYS))
def test_comparing_and_combining_sets_is_alike(one, other):
    theirs = (real.HashTrieSet(one), real.HashTrieSet(other))
    ours = (stand_in.HashTrieSet(one), stand_in.HashTrieSet(other))
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert (ours[0] <= ours[1]) == (theirs[0] <= theirs[1])
    for operator in ("__or__", "__and__", "__sub__", "__xor__"):
        assert set(getattr(ours[0], operator)(ours[1])) == set(getattr(theirs[0], operator)(theirs[1]))


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.HashTrieMap({"a": 1}),
        lambda m: m.HashTrieMap(),
        lambda m: m.HashTrieMap({"a": 1}, b=2).remove("a"),
        lambda m: m.HashTrieMap({"a": 1}) == {"a": 1},
        lambda m: m.HashTrieMap.convert([("a", 1)]),
        lambda m: m.HashTrieMap.fromkeys("a"),
        lambda m: m.HashTrieSet([1]),
        lambda m: m.HashTrieSet(),
        lambda m: m.HashTrieSet([1]) == {1},
        lambda m: m.HashTrieSet([1]) == [1],
        lambda m: m.List([1, 2]),
        lambda m: m.List(1, 2),
        lambda m: m.List(),
        lambda m: m.List([1]) == [1],
    ],
)
def test_it_looks_alike(make):
    assert repr(make(stand_in)) == repr(make(real))


@pytest.mark.parametrize(
    "value",
    [lambda m: m.HashTrieMap({"a": 1, "b": 2}), lambda m: m.HashTrieSet([1, 2]), lambda m: m.List([1, 2])],
)
def test_equal_ones_hash_alike_and_unhashable_contents_are_refused(value):
    assert hash(value(stand_in)) == hash(value(stand_in))
    assert len({value(stand_in), value(stand_in)}) == 1
    with pytest.raises(TypeError):
        hash(stand_in.HashTrieMap({"a": []}))


def test_a_map_is_converted_only_once_and_can_be_pickled():
    made = stand_in.HashTrieMap({"a": 1})
    assert stand_in.HashTrieMap.convert(made) is made
    assert pickle.loads(pickle.dumps(made)) == made
