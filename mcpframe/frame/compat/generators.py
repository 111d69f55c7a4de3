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


def _numpys_is_fresh(mtrand: Any) -> bool:
    bits = mtrand._rand._bit_generator
    return _state(bits) == _state(type(bits)(bits.seed_seq))


def _state(bits: Any) -> tuple[bytes, int]:
    state = bits.state["state"]
    return state["key"].tobytes(), state["pos"]


def _draw_key(process: Any) -> None:
    process.current_process().authkey = os.urandom(32)  # as when it is imported


GENERATORS = (
    Generator("numpy.random.mtrand", lambda mtrand: mtrand.seed(), _numpys_is_fresh),
    Generator("multiprocessing.process", _draw_key, lambda _: True),
    Generator("sympy.core.random", lambda sympys: sympys.seed(), lambda _: True),
)

HARMLESS = (
    ("/numpy/random/", "<module>"),
    ("/multiprocessing/process.py", "__init__"),
    ("/scipy/stats/_distribution_infrastructure.py", "_generate_example"),
    ("/sympy/core/random.py", "<module>"),
    ("/sympy/core/assumptions.py", "_ask"),
    ("/sympy/core/symbol.py", "Dummy"),
)
"""Code that draws while it is imported, as a part of its path and the function: for the seed of a generator above, for
numbers in a docstring, for the order of questions, or for the number of the first dummy symbol."""


def seed() -> None:
    """Seed the generators of all imported libraries anew."""
    for generator in GENERATORS:
        if module := sys.modules.get(generator.module):
            generator.seed(module)


def are_fresh() -> bool:
    """Return whether nothing was drawn from the generators of imported libraries."""
    return all(one.is_fresh(sys.modules[one.module]) for one in GENERATORS if one.module in sys.modules)
