"""A JSON value as a tree of `<details>`, built only where opened, so that large values stay fast."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from inspector.forms.json_values import write_json
from mcpframe import Element, Page

STEP = 100
"""The number of parts shown at first, and with every "show more"."""

LONG_TEXT = 1000
OPEN_PARTS = 20
MAX_PREVIEW = 60


def json_tree(page: Page, place: Element, value: Any, *, label: str = "JSON") -> Element:
    """Show a JSON value, at the end of an element.

    Args:
        value: a result of `json.loads`.
        label: the accessible name.

    Returns:
        The new element.
    """
    box = place.add("div", class_="tree", role="group", aria_label=label)
    add_copy(page, box, lambda: write_json(value), label)
    _node(page, box, None, value, is_open=True)
    return box


def add_copy(page: Page, place: Element, text: Any, what: str) -> None:
    """Add a button that copies a text, which is created on a click."""
    button = place.add("button", "Copy", type="button", class_="small copy", aria_label=f"Copy {what}")
    said = place.add("span", class_="quiet", role="status")

    async def copy() -> None:
        from pyodide.ffi import JsException

        try:
            await page.js.defaultView.navigator.clipboard.writeText(text())
            said.text = "Copied."
        except JsException as error:
            said.text = f"The browser did not let it be copied: {error}"

    button.on("click", copy)


def folded_tree(page: Page, place: Element, title: str, value: Any) -> Element:
    """Show a value as a tree that is built when opened, and return the new element."""
    node = place.add("details", class_="result-folded")
    node.add("summary", title)

    def fill() -> None:
        stop()
        json_tree(page, node, value, label=title)

    stop = node.on("toggle", fill)
    return node


def preview(value: Any) -> str:
    """Return a one-line preview of an object or array, from its first parts only."""
    count = len(value)
    if isinstance(value, list):
        return f"[{count:,} item{'' if count == 1 else 's'}]"
    names = ", ".join(_cut(key, 20) for key in islice(value, 5))
    return f"{{{_cut(names, MAX_PREVIEW)}{', …' if count > 5 else ''}}}" if count else "{}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _node(page: Page, place: Element, key: str | None, value: Any, *, is_open: bool = False) -> None:
    if not isinstance(value, (dict, list)) or not value:
        _leaf(place, key, value)
        return
    node = place.add("details", open=is_open and len(value) <= OPEN_PARTS)
    head = node.add("summary")
    _name(head, key)
    head.add("span", preview(value), class_="quiet")
    pairs = iter(value.items()) if isinstance(value, dict) else ((str(at), part) for at, part in enumerate(value))
    body = node.add("div", class_="tree-parts")
    if node.get("open") is not None:
        _more(page, body, pairs, len(value), 0)
        return

    def fill() -> None:
        stop()
        _more(page, body, pairs, len(value), 0)

    stop = node.on("toggle", fill)


def _more(page: Page, body: Element, pairs: Iterator[tuple[str, Any]], total: int, shown: int) -> None:
    for key, part in islice(pairs, STEP):
        _node(page, body, key, part)
    shown = min(shown + STEP, total)
    if shown < total:

        def more() -> None:
            before = len(body.js.children)
            _more(page, body, pairs, total, shown)
            added = Element(body.js.children[before], page)
            if added.js.tagName == "DETAILS":
                added = added.element("summary")
            else:
                added.set("tabindex", "-1")
            added.focus()

        add_more(body, total - shown, more)


def add_more(place: Element, left: int, more: Callable[[], None]) -> None:
    """Add a button that shows more of a value, once, and is removed then."""
    button = place.add("button", f"Show more ({left:,} left)", type="button", class_="small")

    def press() -> None:
        button.remove()
        more()

    button.on("click", press)


def add_whole(place: Element, shown: Element, text: str) -> None:
    """Add a button that shows the whole of a text that was cut, and is removed then."""
    button = place.add("button", f"Show all ({len(text):,} characters)", type="button", class_="small")

    def press() -> None:
        shown.text = text
        button.remove()
        if shown.get("tabindex") is None:
            shown.set("tabindex", "-1")
        shown.focus()

    button.on("click", press)


def _name(place: Element, key: str | None) -> None:
    if key is not None:
        place.add("span", _cut(key, 500), class_="tree-key")
        place.add("span", ": ")


def _leaf(place: Element, key: str | None, value: Any) -> None:
    line = place.add("div", class_="tree-leaf")
    _name(line, key)
    kind = "null" if value is None else type(value).__name__
    text = json.dumps(value, ensure_ascii=False)
    if "\\ud" in json.dumps(value):  # lone surrogates cannot be shown
        text = json.dumps(value)
    shown = line.add("span", _cut(text, LONG_TEXT), class_=f"tree-{kind}")
    if len(text) > LONG_TEXT:
        add_whole(line, shown, text)
