"""Text of others on a terminal: what would move the cursor, recolour or reorder the screen is shown, not obeyed."""

from __future__ import annotations

import logging
import re

# C0 and C1 controls (ECMA-48) except tab and newline; bidirectional controls (UAX #9), which reorder what is read;
# lone surrogates, which no encoding takes.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return the text with its control characters as escapes, such as `\x1b`; tabs and newlines stay."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


class _Visible(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format as usual: what servers and clients say is in log messages, too."""
        return visible(super().format(record))


def log_visibly() -> None:
    """Let nothing that is logged have control characters in it, where the program's user set up no handler."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Visible())
