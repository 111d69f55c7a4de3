"""Makes the SDK's check of results against output schemas safe: their patterns are not trusted, either.

jsonschema has no option for another regular expression engine, so its module `re` is replaced.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mcp_types as types
from mcp import Client

from forms.patterns import PATTERNS

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


def check_safely(client: Client) -> None:
    """Make a client repeat its check of a result until the necessary matches are settled."""
    session: Any = client.session
    check = session.validate_tool_result

    async def validate_tool_result(name: str, result: types.CallToolResult) -> None:
        if result.structured_content is not None:
            limit_patterns()
        for _ in range(_PASSES):
            failure = None
            try:
                await check(name, result)
            except RuntimeError as error:
                failure = error
            if not await PATTERNS.settle():
                break
        if failure is not None:
            raise failure

    session.validate_tool_result = validate_tool_result
