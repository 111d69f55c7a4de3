"""Makes the SDK's check of results against output schemas safe: their patterns are not trusted, either.

jsonschema has no option for another regular expression engine, so its module `re` is replaced.
"""

from __future__ import annotations

from functools import cache

from patterns import matches


class _Linear:
    """The part of the module `re` that jsonschema uses."""

    @staticmethod
    def search(pattern: str, text: str) -> bool:
        """Return whether a pattern is found in a text; true if that could not be determined."""
        return matches(pattern, text) is not False


@cache
def limit_patterns() -> None:
    """Make jsonschema match patterns in linear time. Importing it is slow: call this only when needed."""
    from jsonschema import _keywords, _legacy_keywords, _utils

    for module in (_keywords, _legacy_keywords, _utils):
        module.re = _Linear
