"""Standard input of a console script, for all but MCP: nobody can type into a page.

What programs do to it before they serve works: `reconfigure`, `isatty`, `buffer`. Reading raises an error that says
what to do, and so does `getpass`, which would open the terminal itself.
"""

from __future__ import annotations

import getpass
import io
import sys
from typing import Any, NoReturn

NOTHING_TO_READ = (
    "Nobody can type into a page, and MCP does not come through the program's own reads of standard input: pass what "
    "it asks for in tool.mcpframe.args or tool.mcpframe.env."
)


class _NoBytes(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> NoReturn:
        raise io.UnsupportedOperation(NOTHING_TO_READ)


class ProgramInput(io.TextIOWrapper):
    """A text file that has nothing to read."""

    def __init__(self) -> None:
        super().__init__(io.BufferedReader(_NoBytes()), encoding="utf-8")

    def close(self) -> None:
        """Stay open: a program may close it, and another connection starts that program again."""


def replace_input() -> None:
    """Put it in place of standard input."""
    sys.stdin = ProgramInput()
    getpass.getpass = _no_password


def _no_password(*_: object, **__: object) -> NoReturn:
    raise io.UnsupportedOperation(NOTHING_TO_READ)
