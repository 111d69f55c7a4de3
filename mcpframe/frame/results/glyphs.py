"""Glyphs that the fonts of a figure lack: fonts in the bundle that have them, or a note on what to add.

matplotlib draws a box for such a character, and warns where nobody looks. A font of the author's files or of a package
becomes a further one of the figure's texts, which matplotlib asks glyph by glyph.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, Final

BUNDLED_WITH = ("values",)

_MISSING = re.compile(r"Glyph (\d+) ")
_ENDINGS = (".ttf", ".otf", ".ttc")
_MOST_NAMED = 10
_PACKAGE: Final = "noto-cjk-sans-jp-regular"
"""A package of the index with one font for Chinese, Japanese and Korean."""
_IN_PACKAGE = frozenset({"BOPOMOFO", "CJK", "FULLWIDTH", "HANGUL", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA"})
_FIRST_EMOJI = 0x1F000  # symbols below it, such as ©, are in fonts for text


def drawn(figure: Any, draw: Callable[[], bytes]) -> tuple[bytes, str]:
    """Return the picture of a figure, with further fonts if it needs them, and a note on characters without a glyph."""
    picture, missing = _draw(draw)
    if missing and _add_fonts(figure, missing):
        picture, missing = _draw(draw)
    return picture, _note(missing) if missing else ""


def _draw(draw: Callable[[], bytes]) -> tuple[bytes, set[str]]:
    """Return a picture and the characters without a glyph. Other warnings are shown as usual."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_MISSING.pattern)
        picture = draw()
    missing = set()
    for warning in caught:
        if match := _MISSING.match(str(warning.message)):
            missing.add(chr(int(match[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return picture, missing


def _add_fonts(figure: Any, missing: Iterable[str]) -> bool:
    """Add fonts with these characters to the texts of a figure; return whether there are any."""
    from matplotlib.font_manager import FontProperties, fontManager
    from matplotlib.text import Text

    left, families = set(missing), []
    for path in _fonts():
        if covered := {character for character in left if _has(path, character)}:
            fontManager.addfont(path)
            families.append(FontProperties(fname=path).get_name())
            left -= covered
        if not left:
            break
    if families:
        for text in figure.findobj(Text):
            text.set_fontfamily([*text.get_fontfamily(), *families])
    return bool(families)


@cache
def _fonts() -> tuple[str, ...]:
    """Return the paths of all fonts beside modules, the author's first."""
    ordered: list[str] = []
    for folder in dict.fromkeys(sys.path):
        if not folder.endswith("/std"):  # a page's standard library
            paths = [f"{at}/{name}" for at, _, names in os.walk(folder) for name in names]
            fonts = [path for path in paths if path.lower().endswith(_ENDINGS)]
            ordered += sorted(fonts, key=lambda path: ("regular" not in path.lower(), path))
    return tuple(ordered)


def _has(path: str, character: str) -> bool:
    from matplotlib.ft2font import FT2Font

    with suppress(RuntimeError, OSError):  # no font, or one of pictures
        return bool(FT2Font(path).get_char_index(ord(character)))
    return False


def _note(missing: set[str]) -> str:
    """Return what is missing, and what to add."""
    scripts = {_script(character) for character in missing}
    named = ", ".join(sorted(missing)[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
    remedies = []
    if scripts & _IN_PACKAGE:
        remedies.append(f"the package {_PACKAGE} to the server's dependencies")
    if others := sorted(scripts - _IN_PACKAGE):
        fonts = " and ".join("Noto Emoji" if each == "EMOJI" else f"Noto Sans {each.title()}" for each in others)
        remedies.append(f"the .ttf file of a font with them, such as {fonts}, to its assets")
    return (
        f"The figure has boxes in place of {named}: no font of the server has these characters. "
        f"Its author can add {', and '.join(remedies)}; it is then used without further code."
    )


def _script(character: str) -> str:
    if ord(character) >= _FIRST_EMOJI and unicodedata.category(character) == "So":
        return "EMOJI"
    return unicodedata.name(character, "SYMBOLS").partition(" ")[0]
