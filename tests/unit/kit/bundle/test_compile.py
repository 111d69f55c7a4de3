"""What is compiled of mcpframe's own modules: no docstrings of functions and modules, and everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.frame.session import session
from mcpframe.kit.bundle.in_pyodide.compile import without_docstrings

SOURCE = b'''"""A module."""
from __future__ import annotations

class Kept:
    """A class."""

    def method(self):
        """A method."""

    async def later(self):
        """A coroutine."""
        return 1

def first():
    "A function."
    raise ValueError("line 16")
'''


def test_docstrings_of_functions_and_modules_go() -> None:
    names: dict[str, object] = {}
    exec(compile(without_docstrings(SOURCE), "a.py", "exec"), names)
    kept = names["Kept"]
    assert isinstance(kept, type)
    texts = [names.get("__doc__"), kept.__doc__, vars(kept)["method"].__doc__, vars(kept)["later"].__doc__]
    assert texts == [None, "A class.", None, None]
    assert vars(kept)["method"](None) is None
    first = names["first"]
    assert callable(first)
    with pytest.raises(ValueError, match="line 16") as caught:
        first()
    assert caught.traceback[-1].lineno == 15, "counted from 0"


def test_it_keeps_the_code_of_a_real_module() -> None:
    path = Path(session.__file__)
    smaller = compile(without_docstrings(path.read_bytes()), path, "exec")
    assert set(smaller.co_names) >= {"Session", "Writer", "open_session", "transport"}
