"""Styles and handlers written into HTML, which the page's Content Security Policy drops: found at build time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser

_STYLES = "inline styles"
_HANDLERS = "inline handlers"
_INSTEAD = {
    _STYLES: "use classes and a style sheet listed in styles, or set element.js.style in Python",
    _HANDLERS: "use element.on(...) in Python",
}


def inline_code_warnings(files: Mapping[str, bytes], *, styles_allowed: bool) -> list[str]:
    """Return a warning for each HTML file of a page with inline styles or handlers.

    Args:
        files: The files of the page, by path.
        styles_allowed: Whether the policy allows inline styles.
    """
    found = []
    for path, data in sorted(files.items()):
        if not path.endswith((".html", ".htm")):
            continue
        finder = _Finder()
        finder.feed(data.decode("utf-8", "replace"))
        if styles_allowed:
            del finder.counts[_STYLES]
        found += [
            f"{path} has {count} {kind}, which the page's policy drops: {_INSTEAD[kind]}."
            for kind, count in sorted(finder.counts.items())
        ]
    return found


class _Finder(HTMLParser):
    """Counts what the policy drops, by kind."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self.counts[_STYLES] += 1
        for name, _ in attrs:
            if name == "style":
                self.counts[_STYLES] += 1
            elif name.startswith("on"):
                self.counts[_HANDLERS] += 1
