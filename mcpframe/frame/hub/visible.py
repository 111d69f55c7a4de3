"""Untrusted text for a reader: what is obeyed, or cannot be seen, is shown as escapes, so that it misleads nobody."""

from __future__ import annotations

import re

# C0 and C1 controls (ECMA-48) except tab and newline; bidirectional controls (UAX #9), which reorder what is read;
# those that nobody sees, by which texts differ that look alike; but not those that join letters and emoji; and lone
# surrogates, which cannot be encoded.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return the text with its control and invisible characters as escapes, such as `\x1b`, but tabs and newlines."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
