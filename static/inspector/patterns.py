"""Matches the regular expressions of a schema, which is not trusted, in linear and limited time.

They are those of ECMA-262 with the flag `u`, as in JSON Schema. A backtracking engine (Python's `re`, JavaScript's
`RegExp`) takes years for some of them, and neither can be interrupted here. This one keeps the set of states that are
possible after each character (Thompson, 1968), so that a character costs at most as many steps as the pattern has
states. Unsupported features (lookbehind, back references, flags), and texts that take too long, are left to the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pattern_trees import Ahead, At, Char, Either, Repeat, Sequence, Test, Tree, Unknown, read_pattern

__all__ = ["matches"]

MAX_PATTERN: Final = 1000
MAX_TEXT: Final = 10_000
MAX_STATES: Final = 4000

MAX_STEPS: Final = 100_000
"""How many steps one text may take: about a tenth of a second."""
_CAPACITY: Final = 200_000
_PER_SECOND: Final = 50_000


@dataclass(eq=False)
class State:
    """One state of a pattern's automaton: its transitions, and their condition.

    Attributes:
        next: the states after it.
        test: the test of the next character; None if none is read.
        holds: the condition on the position; None for none.
        cost: how many steps it takes to evaluate the state.
    """

    next: list[State]
    test: Test | None = None
    holds: Callable[[_Run, int], bool] | None = None
    cost: int = 1


_END: Final = State([])


class _Allowance:
    """A budget of steps for all matching together: it allows bursts, and refills slowly."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = float(_CAPACITY)
        self._at = clock()

    def take(self, most: int) -> int:
        """Return how many steps may be taken now."""
        now = self._clock()
        passed = max(0.0, now - self._at)  # the clock starts again in a page that restores a snapshot
        self._left = min(_CAPACITY, self._left + passed * _PER_SECOND)
        self._at = now
        return min(most, int(self._left))

    def spend(self, steps: int) -> None:
        """Subtract the steps that were taken."""
        self._left -= steps


_allowance = _Allowance()


def matches(pattern: str, text: str) -> bool | None:
    """Return whether a pattern is found in a text.

    Returns:
        None if matching was not completed.
    """
    left = _allowance.take(MAX_STEPS)
    if left <= 0 or len(pattern) > MAX_PATTERN or len(text) > MAX_TEXT:
        return None
    try:
        start, size = _compiled(pattern)
    except Unknown:
        _allowance.spend(MAX_STATES)
        return None
    run = _Run(text, left - size)
    found = run.finds(start)
    _allowance.spend(left - run.left)
    return found


class _Run:
    """A text in which to search for a pattern, with a limit of steps."""

    def __init__(self, text: str, steps: int) -> None:
        self.text = text
        self.left = steps

    def finds(self, start: State, *, at: int | None = None) -> bool | None:
        """Return whether a match begins anywhere, or at one position; None if the steps do not suffice."""
        states: dict[State, None] = {}
        for place in range(at or 0, len(self.text) + 1):
            if at is None or place == at:
                states[start] = None
            states = self._all_of(states, place)
            if _END in states:
                return True
            if self.left < 0:
                return None
            if place < len(self.text):
                char = self.text[place]
                states = {state.next[0]: None for state in states if state.test and state.test(char)}
                if not states and at is not None:
                    return False
        return False

    def _all_of(self, states: dict[State, None], place: int) -> dict[State, None]:
        """Add the states that are reached without a character."""
        open_ = list(states)
        reached: dict[State, None] = {}
        while open_ and self.left >= 0:
            state = open_.pop()
            if state in reached:
                continue
            self.left -= state.cost
            reached[state] = None
            if state.test is None and (state.holds is None or state.holds(self, place)):
                open_ += state.next
        return reached


# From a pattern to its automaton


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> tuple[State, int]:
    builder = _Builder()
    return builder.build(read_pattern(pattern), _END), builder.count


class _Builder:
    """Creates the states of a tree."""

    def __init__(self) -> None:
        self.count = 0

    def build(self, tree: Tree, after: State) -> State:
        """Return the first state of a tree that is followed by the given state."""
        self.count += 1  # counts parts without a state, too: they may be repeated as often
        if self.count > MAX_STATES:
            raise Unknown
        match tree:
            case Char(test, cost):
                return State([after], test=test, cost=cost)
            case At(holds):
                return State([after], holds=lambda run, at: holds(run.text, at))
            case Ahead(part, wanted):
                start = self.build(part, _END)
                return State([after], holds=lambda run, at: run.finds(start, at=at) is wanted)
            case Sequence(parts):
                for part in reversed(parts):
                    after = self.build(part, after)
                return after
            case Either(parts):
                return State([self.build(part, after) for part in parts])
            case Repeat(part, least, most):
                if most is None:
                    self.count += 1
                    loop = State([])
                    loop.next = [self.build(part, loop), after]
                    after = loop
                for _ in range((most or least) - least):
                    self.count += 1
                    after = State([self.build(part, after), after])
                for _ in range(least):
                    after = self.build(part, after)
                return after
