"""A folder of dialects that only tests have: `toy` is there as soon as the package's path has this folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcpframe.frame import dialects as package
from mcpframe.frame.dialects import available
from mcpframe.frame.dialects.available import offered_dialects
from mcpframe.frame.dialects.complete import complete_dialects
from tests.vectors.parts import parts

TOY = "toy"


@contextmanager
def installed() -> Iterator[None]:
    """Have the dialects of this folder in the block, besides those of mcpframe."""
    path: Any = package.__path__
    cached = (offered_dialects, available.dialects, complete_dialects, parts)
    path.append(str(Path(__file__).parent))
    for each in cached:
        each.cache_clear()
    try:
        yield
    finally:
        path.remove(str(Path(__file__).parent))
        for each in cached:
            each.cache_clear()
