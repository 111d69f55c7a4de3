"""Untrusted text for people and models: control and invisible characters are removed or shown as escapes.

A page could otherwise hide a sentence from a person that a model reads, or make two texts look alike. Every path uses
this: names, titles, descriptions and schemas of tools, questions, logs, and text on the terminal.

A few invisible characters change the glyphs around them, and are kept where they do: U+FE0E and U+FE0F after a symbol,
U+200D between symbols, and U+200C and U+200D where letters join. At most one is kept at each place, so that they
carry no text.
"""

from __future__ import annotations

import re
import unicodedata

DEFAULT_IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""The code points with Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which Python's
`unicodedata` lacks. `tests/support/default_ignorable.mjs` prints them."""

_CONTROLS = ((0x0, 0x8), (0xB, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), (0xFFF9, 0xFFFB), (0x13430, 0x1343F))
"""Controls but tab and newline, separators of lines, and the controls of annotations and of hieroglyphs."""
_BLANKS = ((0x2800, 0x2800), (0x13441, 0x13442), (0x16FE4, 0x16FE4), (0x1D159, 0x1D159))
"""Blank glyphs that are not white space: a cell of Braille, hieroglyphs, a filler of Khitan, the null note."""
_NO_CHARACTERS = (
    (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF),
    *((at + 0xFFFE, at + 0xFFFF) for at in range(0, 0x110000, 0x10000)),
)
"""Lone surrogates, which cannot be encoded, and noncharacters."""

_UNSEEN = re.compile(
    "[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in (*DEFAULT_IGNORABLE, *_CONTROLS, *_BLANKS, *_NO_CHARACTERS)) + "]"
)

_PRESENTATION = "\ufe0e\ufe0f"
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_KEYCAPS, _KEYCAP = "#*0123456789", "\u20e3"
_OTHER_SYMBOLS = "\u203c\u2049\u2139\u3030"
"""Emoji whose category is not that of a symbol."""
_VIRAMA = 9


def visible(text: str) -> str:
    r"""Return a text of a stranger for a person to read: control and invisible characters, such as those that reverse
    the direction of what follows, are escapes (`\x1b`, `\u202e`). Tabs and newlines stay.

    Set `Page.text_filter` to it in a page that shows such texts.
    """
    return _UNSEEN.sub(lambda found: found[0] if _is_seen(found) else _escaped(found[0]), text)


def plain(text: str) -> str:
    """Return the text without control and invisible characters; tabs and newlines stay."""
    return _UNSEEN.sub(lambda found: found[0] if _is_seen(found) else "", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _is_seen(found: re.Match[str]) -> bool:
    """Return whether a character changes the glyphs at its place."""
    character, text, at = found[0], found.string, found.start()
    if character not in (*_PRESENTATION, _NON_JOINER, _JOINER) or at == 0:
        return False
    before, after = text[at - 1], text[at + 1 : at + 2]
    if character in _PRESENTATION:
        return _is_symbol(before) or (before in _KEYCAPS and after == _KEYCAP)
    if not after:
        return False
    if unicodedata.combining(before) == _VIRAMA:
        return after.isalpha()
    if character == _NON_JOINER:
        return unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"
    if before in _PRESENTATION:
        before = text[max(0, at - 2)]
    return _is_symbol(before) and _is_symbol(after)


def _is_symbol(character: str) -> bool:
    return character in _OTHER_SYMBOLS or (
        unicodedata.category(character) in ("So", "Sm", "Sk") and not _UNSEEN.match(character)
    )
