"""Shows the results of a server: text, structured content, images, sounds, resources and prompts.

Results are not trusted. They become text, or the content of `<img>` and `<audio>` (see media.py), never HTML; an
address becomes a link only if it is http or https; other content is offered as a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from itertools import islice, pairwise
from typing import Any

from inspector.forms.json_values import same
from inspector.results.media import data_url, decoded, file_name, media_type, shown_as, size_text, web_address
from inspector.results.tables import repeats, show_table, tables_in
from inspector.results.tree import add_copy, add_more, add_whole, folded_tree, json_tree
from mcpframe import Element, Page

__all__ = ["Read", "json_tree", "show_result"]

Read = Callable[[str], Awaitable[dict[str, Any]]]
"""Reads a resource: takes its URI, and returns the result on the wire."""

LONG_TEXT = 50_000
_RULED = re.compile(r" \| |\|.*\||-\+-|[│┃║]|\t")
MAX_PARTS = 100
MAX_JSON_TEXT = 1_000_000

RAISED = "mcpframe/raised"
"""The name of an exception's place in `_meta`; see docs/how-to/tools.md."""
_KNOWN = ("content", "structuredContent", "isError", "contents", "messages", "description")


def show_result(page: Page, place: Element, result: Any, *, read: Read | None = None) -> None:
    """Show a result in an element, instead of its present content.

    Args:
        result: a CallToolResult, ReadResourceResult or GetPromptResult on the wire; anything else is shown as JSON.
        read: reads a linked resource; without it linked resources are only named.
    """
    place.clear()
    view = _View(page, read)
    box = place.add("div", class_="result")
    if not isinstance(result, dict) or not any(key in result for key in _KNOWN):
        json_tree(page, box, result, label="Result")
        return
    if result.get("isError") is True:
        box.classes.add("result-error")
        box.add("p", "The tool reports an error.", class_="result-title")
        if raised := raised_at(result.get("_meta")):
            box.add("p", raised, class_="quiet")
    if isinstance(result.get("description"), str):
        box.add("p", result["description"], class_="result-description")
    structured, content = result.get("structuredContent"), result.get("content")
    said = _value_of(content)
    tables = tables_in(said if structured is None else structured)
    for name, rows in tables.items():
        show_table(page, box, "" if tables.keys() == {"result"} else name, rows)
    if tables and said is not None and (structured is None or repeats(said, structured)):
        view.folded_parts(box, content)
    else:
        view.parts(box, content, lambda part, place: view.content(place, part, structured))
    if structured is not None:
        box.add("p", "Structured content", class_="result-title")
        json_tree(page, box, structured, label="Structured content")
    view.parts(box, result.get("contents"), lambda part, place: view.resource(place, part))
    view.parts(box, result.get("messages"), lambda part, place: view.message(place, part))
    if all(result.get(key) in (None, [], "") for key in _KNOWN if key != "isError"):
        box.add("p", "The result is empty.", class_="quiet")
    rest = {key: value for key, value in result.items() if key not in _KNOWN and value is not None}
    if rest:
        view.folded(box, "More of the result", rest)


def raised_at(meta: Any) -> str:
    """Return the type and the place of the exception in an author's code; empty for none."""
    raised = meta.get(RAISED) if isinstance(meta, dict) else None
    if not isinstance(raised, dict) or not isinstance(raised.get("type"), str):
        return ""
    file, line = raised.get("file"), raised.get("line")
    known = isinstance(file, str) and isinstance(line, int)
    return f"Raised: {raised['type']} in {file}, line {line}." if known else f"Raised: {raised['type']}."


def raised_in(text: str) -> str:
    """Return the error of a tool in a message, with the place of its exception, for a terminal; empty for none.

    Args:
        text: the message of the server.
    """
    if f'"{RAISED}"' not in text:
        return ""
    try:
        message = json.loads(text)
        result = message.get("payload", message)["result"]  # in the envelope of a dialect, or plain
        told = [part["text"] for part in result["content"] if part["type"] == "text"]
        raised = raised_at(result.get("_meta"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
    return "\n".join(["error: " + " ".join(told), raised]) if raised else ""


class _View:
    """Shows the parts of one result."""

    def __init__(self, page: Page, read: Read | None) -> None:
        self._page = page
        self._read = read

    def parts(self, place: Element, parts: Any, show: Callable[[Any, Element], None]) -> None:
        """Show every part of a list, the first ones at once."""
        if parts is None:
            return
        if not isinstance(parts, list):
            self._unknown(place, parts)
            return
        self._some(place.add("div", class_="result-parts"), parts, 0, show)

    def _some(self, box: Element, parts: list[Any], first: int, show: Callable[[Any, Element], None]) -> None:
        for part in islice(parts, first, first + MAX_PARTS):
            show(part, box.add("div", class_="result-part", tabindex="-1"))
        following = first + MAX_PARTS
        if following < len(parts):

            def more() -> None:
                self._some(box, parts, following, show)
                box.elements(":scope > .result-part")[following].focus()

            add_more(box, len(parts) - following, more)

    def folded_parts(self, place: Element, parts: Any) -> None:
        """Show texts that a table shows as well, once they are asked for."""
        node = place.add("details", class_="result-folded")
        node.add("summary", f"As text ({len(parts):,} part{'' if len(parts) == 1 else 's'})")

        def fill() -> None:
            stop()
            self.parts(node, parts, lambda part, inside: self.content(inside, part))

        stop = node.on("toggle", fill)

    def content(self, place: Element, part: Any, structured: Any = None) -> None:
        """Show a content block."""
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            self.text(place, part["text"], structured)
        elif kind in ("image", "audio"):
            self.binary(place, part.get("data"), part.get("mimeType"), wanted=kind)
        elif kind == "resource":
            self.resource(place, part.get("resource"))
        elif kind == "resource_link":
            self.link(place, part)
        else:
            self._unknown(place, part)
            return
        rest = {key: part[key] for key in ("annotations", "_meta") if part.get(key) is not None}
        if rest:
            self.folded(place, "Annotations", rest)

    def message(self, place: Element, part: Any) -> None:
        """Show a message of a prompt."""
        if not isinstance(part, dict):
            self._unknown(place, part)
            return
        role = part.get("role")
        place.add("p", role if isinstance(role, str) else "message", class_="result-title")
        content = part.get("content")
        if isinstance(content, list):
            self.parts(place, content, lambda each, inner: self.content(inner, each))
        elif isinstance(content, str):
            self.text(place, content)
        else:
            self.content(place, content)

    def text(self, place: Element, text: str, structured: Any = None) -> None:
        """Show a text; if it is JSON, also as a tree, unless the tree is shown already."""
        kind = "result-text result-table" if is_table(text[:LONG_TEXT]) else "result-text"
        shown = place.add("pre", text[:LONG_TEXT], class_=kind, tabindex="0")
        line = place.add("div", class_="result-buttons")
        if len(text) > LONG_TEXT:
            add_whole(line, shown, text)
        add_copy(self._page, line, lambda: text, "text")
        value = _as_json(text)
        if value is not None and not (structured is not None and same(value, structured)):
            self.folded(place, "As JSON", value)

    def binary(self, place: Element, data: Any, kind: Any, *, wanted: str = "", uri: Any = None) -> None:
        """Show an image or a sound if its media type is allowed; always offer it as a file."""
        content = decoded(data)
        if content is None:
            place.add("p", f"This {wanted or 'blob'} is not base64.", class_="result-problem")
            self.folded(place, "What was sent", data)
            return
        told = f"{media_type(kind) or 'no media type'}, {size_text(len(content))}"
        shown = shown_as(kind)
        if shown == "image":
            image = place.add("img", src=data_url(kind, content), alt=f"Image ({told})", class_="result-image")
            problem = place.add("p", "The browser can't show this image.", class_="result-problem", hidden=True)

            def fail() -> None:
                image.hidden, problem.hidden = True, False

            image.on("error", fail)
        elif shown == "audio":
            place.add("audio", src=data_url(kind, content), controls=True, aria_label=f"Sound ({told})")
        elif wanted:
            place.add("p", f"This {wanted} is of a kind that is not shown here.", class_="result-problem")
        name = file_name(uri, kind)
        line = place.add("div", class_="result-buttons")
        button = line.add("button", f"Download {name}", type="button", class_="small")
        line.add("span", told, class_="quiet")
        button.on("click", lambda: self._page.download(name, content))

    def resource(self, place: Element, part: Any) -> None:
        """Show the contents of a resource."""
        if not isinstance(part, dict):
            self._unknown(place, part)
            return
        uri, kind = part.get("uri"), part.get("mimeType")
        line = place.add("p", class_="result-uri")
        self._address(line, uri)
        if media_type(kind):
            line.add("span", media_type(kind), class_="quiet")
        if isinstance(part.get("text"), str):
            self.text(place, part["text"])
        elif "blob" in part:
            self.binary(place, part["blob"], kind, uri=uri)
        else:
            self._unknown(place, part)

    def link(self, place: Element, part: dict[str, Any]) -> None:
        """Show the address of a resource, with a button that reads it."""
        uri = part.get("uri")
        name = next(
            (part[key] for key in ("title", "name") if isinstance(part.get(key), str) and part[key]), "resource"
        )
        place.add("p", name, class_="result-title")
        if isinstance(part.get("description"), str):
            place.add("p", part["description"])
        line = place.add("p", class_="result-uri")
        self._address(line, uri)
        if media_type(part.get("mimeType")):
            line.add("span", media_type(part.get("mimeType")), class_="quiet")
        read = self._read
        if read is None or not isinstance(uri, str):
            return
        button = place.add("button", f"Read {name}", type="button", class_="small")
        told = place.add("p", class_="result-problem", role="alert", hidden=True)
        answer = place.add("div")

        async def ask() -> None:
            button.disabled, told.hidden = True, True
            try:
                show_result(self._page, answer, await read(uri), read=read)
            except Exception as error:  # noqa: BLE001  any failure is shown beside the button
                told.text, told.hidden = f"{name} could not be read: {error}", False
            finally:
                button.disabled = False

        button.on("click", ask)

    def folded(self, place: Element, title: str, value: Any) -> None:
        """Show a value as a tree that is built when opened."""
        folded_tree(self._page, place, title, value)

    def _address(self, place: Element, uri: Any) -> None:
        address = web_address(uri)
        if address:
            place.add("a", address, href=address, target="_blank", rel="noopener noreferrer")
        else:
            place.add("code", uri if isinstance(uri, str) else "no URI")

    def _unknown(self, place: Element, part: Any) -> None:
        place.add("p", "This is not content that MCP describes.", class_="result-problem")
        json_tree(self._page, place, part, label="Unknown content")


def _as_json(text: str) -> Any:
    """Return the JSON object or array of a text; None for any other text."""
    if len(text) > MAX_JSON_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _value_of(content: Any) -> Any:
    """Return the JSON value of a content of texts, which are its parts if there are several; None if it has none."""
    if not isinstance(content, list) or not content:
        return None
    texts = [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
    if len(texts) < len(content) or sum(map(len, texts)) > MAX_JSON_TEXT:
        return None
    values = [_as_json(text) for text in texts]
    if any(value is None for value in values):
        return None
    return values[0] if len(values) == 1 else values


def is_table(text: str) -> bool:
    """Return whether a text has a table drawn with characters, whose lines must not be wrapped."""
    ruled = [bool(_RULED.search(line)) for line in islice(text.splitlines(), 1000)]
    return any(one and other for one, other in pairwise(ruled))
