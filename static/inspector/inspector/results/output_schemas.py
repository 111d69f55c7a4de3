"""Checks results against output schemas, safely: their patterns are not trusted, either.

The SDK's client withholds a result that does not fit. Here it is shown, with a sentence that says so.

jsonschema has no option for another regular expression engine, so its module `re` is replaced.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import mcp_types as types
from mcp import Client

from inspector.forms.patterns import PATTERNS

Check = Callable[[str, types.CallToolResult], Awaitable[None]]
"""Raises an exception for a result that does not fit the output schema of the tool of this name."""

_MOST_SHOWN = 300  # characters
_PASSES = 10  # a pattern may decide which others are matched


class _Untrusted:
    """The part of the module `re` that jsonschema uses."""

    @staticmethod
    def search(pattern: str, text: str) -> bool:
        """Return whether a pattern is found in a text; true if unknown."""
        return PATTERNS.matches(pattern, text) is not False


@cache
def limit_patterns() -> None:
    """Make jsonschema use `PATTERNS`. Importing it is slow: call this only when needed."""
    from jsonschema import _keywords, _legacy_keywords, _utils

    for module in (_keywords, _legacy_keywords, _utils):
        module.re = _Untrusted


def show_unchecked(client: Client) -> Check:
    """Let a client return results that do not fit their tool's output schema; return the SDK's check of them."""
    session: Any = client.session
    check: Check = session.validate_tool_result

    async def unchecked(name: str, result: types.CallToolResult) -> None:
        """Check nothing: see `mismatch`."""

    session.validate_tool_result = unchecked
    return check


async def mismatch(check: Check, name: str, result: types.CallToolResult) -> str:
    """Return in which way a result does not fit its tool's output schema, as a sentence; empty if it does.

    The check is repeated until the necessary matches are settled.

    Args:
        check: the SDK's check.
        name: the tool's name.
    """
    if result.is_error:
        return ""
    if result.structured_content is not None:
        limit_patterns()
    told = ""
    for _ in range(_PASSES):
        try:
            await check(name, result)
            told = ""
        except Exception as error:  # noqa: BLE001  a schema of a stranger may cause any
            told = _sentence(error)
        if not await PATTERNS.settle():
            break
    return told


def _sentence(error: Exception) -> str:
    cause: Any = error.__cause__
    if isinstance(error, RuntimeError) and hasattr(cause, "json_path"):
        place = cause.json_path.removeprefix("$").removeprefix(".")
        why = f"{place}: {cause.message}" if place else cause.message
        told = f"The result does not fit the tool's output schema, so that other clients refuse it: {_line(why)}"
    elif isinstance(error, RuntimeError) and cause is None and not isinstance(error, RecursionError):
        told = "The tool has an output schema, and its result has no structured content: other clients refuse it"
    else:
        told = f"The result was not checked against the tool's output schema: {_line(str(error))}"
    return f"{told.rstrip('.')}."


def _line(text: str) -> str:
    first = text.partition("\n")[0]
    return first if len(first) <= _MOST_SHOWN else f"{first[:_MOST_SHOWN]} …"
