"""Random generators that libraries seed when they are imported, and keys that they draw.

A page restored from a snapshot seeds and draws them anew. A snapshot is refused if anything was drawn from a generator:
it would be the same for all visitors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Generator:
    """A generator of a library, or a key that it draws.

    Attributes:
        module: The module that has it.
        seed: Seeds it anew; called with the module.
        is_fresh: Returns whether nothing was drawn since it was seeded; called with the module.
    """

    module: str
    seed: Callable[[Any], None]
    is_fresh: Callable[[Any], bool]


def _is_fresh(generator: Any) -> bool:
    """Return whether nothing was drawn from a generator of numpy."""
    bits = generator._bit_generator
    return _state(bits) == _state(type(bits)(bits.seed_seq))


def _state(bits: Any) -> list[object]:
    return [each.tobytes() if hasattr(each, "tobytes") else each for each in bits.state["state"].values()]


def _seed_trees(grower: Any) -> None:
    """Seed the generator that is the default of an argument."""
    init = grower.TreeGrower.__init__
    init.__defaults__ = tuple(
        type(each)(type(each._bit_generator)()) if hasattr(each, "_bit_generator") else each
        for each in init.__defaults__
    )


def _trees_are_fresh(grower: Any) -> bool:
    return all(_is_fresh(each) for each in grower.TreeGrower.__init__.__defaults__ if hasattr(each, "_bit_generator"))


def _draw_key(process: Any) -> None:
    process.current_process().authkey = os.urandom(32)  # as when it is imported


GENERATORS = (
    Generator("numpy.random.mtrand", lambda mtrand: mtrand.seed(), lambda mtrand: _is_fresh(mtrand._rand)),
    Generator("multiprocessing.process", _draw_key, lambda _: True),
    Generator("sklearn.ensemble._hist_gradient_boosting.grower", _seed_trees, _trees_are_fresh),
    Generator("sympy.core.random", lambda sympys: sympys.seed(), lambda _: True),
)

HARMLESS = (
    ("/numpy/random/", "<module>"),
    ("/joblib/parallel.py", "__init__"),
    ("/joblib/parallel.py", "__call__"),
    ("/multiprocessing/process.py", "__init__"),
    ("/scipy/stats/_distribution_infrastructure.py", "_generate_example"),
    ("/sklearn/utils/validation.py", "check_random_state"),
    ("/sklearn/ensemble/_hist_gradient_boosting/grower.py", "<module>"),
    ("/sympy/core/random.py", "<module>"),
    ("/sympy/core/assumptions.py", "_ask"),
    ("/sympy/core/symbol.py", "Dummy"),
    ("/tempfile.py", "_get_default_tempdir"),
)
"""Code that draws while it is imported, as a part of its path and the function: for the seed of a generator above, or
of one that gets a fixed seed next, for numbers in a docstring, for the order of questions, for the number of the first
dummy symbol, for the name of a file that is deleted at once, or for that of a folder of a pool of processes."""


def seed() -> None:
    """Seed the generators of all imported libraries anew."""
    for generator in GENERATORS:
        if module := sys.modules.get(generator.module):
            generator.seed(module)


def are_fresh() -> bool:
    """Return whether nothing was drawn from the generators of imported libraries."""
    return all(one.is_fresh(sys.modules[one.module]) for one in GENERATORS if one.module in sys.modules)
