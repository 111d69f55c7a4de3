"""What is compiled of mcpframe's own modules: everything but docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.frame.session import session
from mcpframe.kit.bundle.in_pyodide.compile import without_docstrings

SOURCE = b'''"""A module."""
from __future__ import annotations

@decorated
class Kept:
    """A decorated class.

    The rest of its docstring.
    """

    def method(self):
        """A method."""

    async def later(self):
        """A coroutine."""
        return 1

def first():
    "A function."
    raise ValueError("line 20")

class Other(Exception):
    """A class."""

class Plain:
    """A class."""
'''


def test_docstrings_go_but_for_the_first_line_of_a_decorated_class() -> None:
    names: dict[str, object] = {"decorated": lambda cls: cls}
    exec(compile(without_docstrings(SOURCE), "a.py", "exec"), names)
    kept = names["Kept"]
    assert isinstance(kept, type)
    texts = [names.get("__doc__"), kept.__doc__, vars(kept)["method"].__doc__, vars(kept)["later"].__doc__]
    assert texts == [None, "A decorated class.", None, None]
    assert [getattr(names[name], "__doc__", "") for name in ("Other", "Plain")] == [None, None]
    assert vars(kept)["method"](None) is None
    first = names["first"]
    assert callable(first)
    with pytest.raises(ValueError, match="line 20") as caught:
        first()
    assert caught.traceback[-1].lineno == 19, "counted from 0"


def test_it_keeps_the_code_of_a_real_module() -> None:
    path = Path(session.__file__)
    smaller = compile(without_docstrings(path.read_bytes()), path, "exec")
    assert set(smaller.co_names) >= {"Session", "Writer", "open_session", "transport"}
