"""Generators of libraries, whose seeds a restored page draws anew."""

from __future__ import annotations

import random
import sys
from types import ModuleType
from typing import Any

import pytest

from mcpframe.frame.compat import generators


class Key(tuple[int, ...]):
    def tobytes(self) -> bytes:
        return repr(self).encode()


class Bits:
    """A bit generator of numpy."""

    def __init__(self, seed_seq: int) -> None:
        self.seed_seq = seed_seq
        self.random = random.Random(seed_seq)

    @property
    def state(self) -> dict[str, Any]:
        *key, position = self.random.getstate()[1]
        return {"state": {"key": Key(key), "pos": position}}


@pytest.fixture
def bits(monkeypatch: pytest.MonkeyPatch) -> Bits:
    mtrand: Any = ModuleType("numpy.random.mtrand")
    mtrand._rand = ModuleType("_rand")
    mtrand._rand._bit_generator = Bits(1)
    mtrand.seed = lambda: setattr(mtrand._rand, "_bit_generator", Bits(2))
    monkeypatch.setitem(sys.modules, "numpy.random.mtrand", mtrand)
    return mtrand._rand._bit_generator  # type: ignore[no-any-return]


def test_numpys_generator_is_fresh_until_something_is_drawn(bits: Bits) -> None:
    assert generators.are_fresh()
    bits.random.random()
    assert not generators.are_fresh()


def test_numpys_generator_is_seeded_anew(bits: Bits) -> None:
    generators.seed()
    assert sys.modules["numpy.random.mtrand"]._rand._bit_generator.seed_seq != bits.seed_seq


def test_the_key_of_processes_is_drawn_anew() -> None:
    import multiprocessing.process

    key = multiprocessing.process.current_process().authkey
    generators.seed()
    assert multiprocessing.process.current_process().authkey != key


def test_the_generator_of_an_argument_of_scikit_learn_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Drawing:
        """A generator of numpy."""

        def __init__(self, bits: Bits) -> None:
            self._bit_generator = bits

    class Own(Bits):
        def __init__(self, seed_seq: int = 2) -> None:
            super().__init__(seed_seq)

    given = Drawing(Own(1))

    class TreeGrower:
        def __init__(self, depth: int = 3, rng: Drawing = given) -> None:
            self.depth, self.rng = depth, rng

    grower: Any = ModuleType("grower")
    grower.TreeGrower = TreeGrower
    monkeypatch.delitem(sys.modules, "numpy.random.mtrand", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble._hist_gradient_boosting.grower", grower)
    assert generators.are_fresh()
    TreeGrower().rng._bit_generator.random.random()
    assert not generators.are_fresh()
    generators.seed()
    assert generators.are_fresh()
    assert (TreeGrower().depth, TreeGrower().rng._bit_generator.seed_seq) == (3, 2)


def test_sympys_generators_are_seeded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sympys: Any = ModuleType("sympy.core.random")
    one = random.Random(1)
    sympys.seed = one.seed
    monkeypatch.setitem(sys.modules, "sympy.core.random", sympys)
    generators.seed()
    assert one.random() != random.Random(1).random()


def test_what_is_not_imported_needs_no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy.random.mtrand", raising=False)
    generators.seed()
    assert generators.are_fresh()
