"""Random generators that libraries seed when they are imported. A page restored from a snapshot seeds them anew.

A snapshot is refused if anything was drawn from them: what was drawn would be the same for all visitors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Generator:
    """A generator of a library.

    Attributes:
        module: The module that has it.
        seeded_in: The folder of the code that seeds it while it is imported.
        seed: Seeds it anew; called with the module.
        is_fresh: Returns whether nothing was drawn since it was seeded; called with the module.
    """

    module: str
    seeded_in: str
    seed: Callable[[Any], None]
    is_fresh: Callable[[Any], bool]


def _numpys_is_fresh(mtrand: Any) -> bool:
    bits = mtrand._rand._bit_generator
    return _state(bits) == _state(type(bits)(bits.seed_seq))


def _state(bits: Any) -> tuple[bytes, int]:
    state = bits.state["state"]
    return state["key"].tobytes(), state["pos"]


GENERATORS = (Generator("numpy.random.mtrand", "/numpy/random/", lambda mtrand: mtrand.seed(), _numpys_is_fresh),)


def seed() -> None:
    """Seed the generators of all imported libraries anew."""
    for generator in GENERATORS:
        if module := sys.modules.get(generator.module):
            generator.seed(module)


def are_fresh() -> bool:
    """Return whether nothing was drawn from the generators of imported libraries."""
    return all(one.is_fresh(sys.modules[one.module]) for one in GENERATORS if one.module in sys.modules)
