"""Untrusted text for a reader: control characters are shown as escapes, so that they neither mislead nor are obeyed."""

from __future__ import annotations

import re

# C0 and C1 controls (ECMA-48) except tab and newline; bidirectional controls (UAX #9), which reorder what is read;
# lone surrogates, which cannot be encoded.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return the text with its control characters as escapes, such as `\x1b`; tabs and newlines are kept."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
