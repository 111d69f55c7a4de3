"""Output schemas, which the SDK checks results against: their patterns, too, are a stranger's.

jsonschema has no way to be given another engine than Python's `re`, so it gets another `re`.
"""

from __future__ import annotations

from functools import cache

from patterns import matches


class _Linear:
    """What jsonschema uses of the module `re`."""

    @staticmethod
    def search(pattern: str, text: str) -> bool:
        """Return whether a pattern is found in a text; also where that was not tried."""
        return matches(pattern, text) is not False


@cache
def limit_patterns() -> None:
    """Have jsonschema match patterns in linear time. It takes a while to import: call this where it is needed."""
    from jsonschema import _keywords, _legacy_keywords, _utils

    for module in (_keywords, _legacy_keywords, _utils):
        module.re = _Linear
