"""Parts of the standard library that a page lacks, which a build warns of."""

from __future__ import annotations

import re
import sys

import pytest

from mcpframe.kit.bundle.code.missing_stdlib import ABSENT, missing_stdlib_warnings
from tests.support.sources import REPOSITORY

PLATFORM = REPOSITORY / "docs" / "reference" / "platform.md"


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("def tool():\n    import shelve\n", ["line 2", "'shelve'", "sqlite3"]),
        ("import dbm.gnu\n", ["line 1", "'dbm'", "sqlite3"]),
        ("def tool():\n    from venv import create\n", ["'venv'", "project.dependencies"]),
        ("def tool():\n    import turtle\n", ["'turtle'", "session.page"]),
        (
            "import hashlib\ndef tool():\n    return hashlib.scrypt(b'a')\n",
            ["line 3", "hashlib.scrypt", "'cryptography'"],
        ),
        ("def tool():\n    from hashlib import scrypt\n", ["line 2", "'scrypt'", "'cryptography'"]),
    ],
)
def test_a_use_is_named_with_its_place_and_what_to_do(code: str, named: list[str]) -> None:
    [warning] = missing_stdlib_warnings({"pkg/server.py": code.encode(), "notes.md": b"import dbm"})
    assert "pkg/server.py" in warning
    assert all(each in warning for each in named), warning
    assert "Add it to the server's requirements" not in warning


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    import readline\nexcept ImportError:\n    readline = None\n",
        "def tool():\n    try:\n        import pwd\n    except ModuleNotFoundError:\n        pass\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import dbm\n",
        "try:\n    from hashlib import scrypt\nexcept ImportError:\n    pass\n",
        "import resource, hashlib, sqlite3\nhashlib.pbkdf2_hmac\n",
        "from .dbm import x\nimport our.dbm\nimport grp\n",
        "def broken(:\n    import dbm\n",
    ],
)
def test_what_works_or_expects_it_is_not(code: str) -> None:
    assert missing_stdlib_warnings({"pkg/server.py": code.encode(), "grp.py": b""}) == ()


def test_the_documentation_lists_exactly_these() -> None:
    [row] = re.findall(r"(?m)^\| modules of Python[^|]*\|", PLATFORM.read_text())
    assert frozenset(re.findall(r"`(\w+)`", row)) == ABSENT - {"resource"}
    if sys.version_info >= (3, 13):
        assert sys.stdlib_module_names >= ABSENT
