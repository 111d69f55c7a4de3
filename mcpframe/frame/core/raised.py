"""Where a tool's exception was raised, in the `_meta` of its error result: for the author's tools, which show it.

It names the exception's type, the author's file and the line, which a bundle has in public; no values and no other
frames of the stack. The message is in the result's text.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

RAISED: Final = "mcpframe/raised"
"""The name in `_meta`."""
_SERVER_FOLDER: Final = "/mcpframe/server/"
"""The folder of the author's files in a page: `page.hints`."""

_noted: ContextVar[list[BaseException] | None] = ContextVar("mcpframe_raised", default=None)


@contextmanager
def noting() -> Iterator[list[BaseException]]:
    """Collect the exceptions of tools in the block; see `note`."""
    errors: list[BaseException] = []
    token = _noted.set(errors)
    try:
        yield errors
    finally:
        _noted.reset(token)


def note(error: BaseException) -> None:
    """Remember the exception of a tool for its result."""
    if (errors := _noted.get()) is not None:
        errors.append(error)


def with_place(result: Any, errors: list[BaseException]) -> Any:
    """Return an error result with the place of the last of these exceptions, if it is one on the wire."""
    if not errors or not isinstance(result, dict) or result.get("isError") is not True:
        return result
    meta = result.get("_meta")
    return {**result, "_meta": {**(meta if isinstance(meta, dict) else {}), RAISED: place_of(errors[-1])}}


def place_of(error: BaseException) -> Mapping[str, Any]:
    """Return the type of an exception, and the file and line of the author's code that led to it.

    Without code of the author on the way, it is the place of the exception itself.
    """
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    calls = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(file.removeprefix(_SERVER_FOLDER), line) for file, line in calls if file.startswith(_SERVER_FOLDER)]
    place: dict[str, Any] = {"type": type(error).__name__}
    if own or calls:
        file, line = own[-1] if own else (os.path.basename(calls[-1][0]), calls[-1][1])  # noqa: PTH119
        place |= {"file": file, "line": line}
    return place
