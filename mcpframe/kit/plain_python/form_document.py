"""A document without a browser: as much of the DOM as `Page` and its elements use, for the forms of setups.

It has the names of the browser's objects, draws nothing, and runs no scripts.
"""

# ruff: noqa: N802  the names are the browser's

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

_ALONE = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_ENDED_BY_THE_NEXT = {"option", "li", "p", "dt", "dd", "tr", "td", "th"}
_UNSEEN = {"script", "style", "template", "option", "button", "label"}
_BLOCKS = {"p", "div", "li", "h1", "h2", "h3", "h4", "pre", "form", "section", "tr", "fieldset", "legend", "ul", "ol"}
_PART = re.compile(
    r"(?P<tag>^[\w-]+|^\*)|#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)|\[(?P<name>[\w-]+)(?:=\"?(?P<value>[^\"\]]*)\"?)?\]"
)


class FormNode:
    """An element."""

    def __init__(self, tag: str, attributes: dict[str, str] | None = None) -> None:
        self.tagName = tag.upper()
        self.attributes = attributes or {}
        self.nodes: list[FormNode | str] = []
        self.parent: FormNode | None = None
        self.classList = ClassList(self)
        self.checked = "checked" in self.attributes
        self.disabled = "disabled" in self.attributes
        self.files = FileList()
        self._value: str | None = None

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def type(self) -> str:
        usual = {"INPUT": "text", "BUTTON": "submit"}.get(self.tagName, "")
        return self.attributes.get("type", usual).lower()

    @property
    def value(self) -> str:
        if self._value is not None:
            return self._value
        if self.tagName == "TEXTAREA":
            return self.textContent
        if self.tagName == "SELECT":
            options = self.querySelectorAll("option")
            chosen = [option for option in options if "selected" in option.attributes] or options
            return chosen[0].value if chosen else ""
        return self.attributes.get("value", self.textContent if self.tagName == "OPTION" else "")

    @value.setter
    def value(self, value: str) -> None:
        self._value = value

    @property
    def hidden(self) -> bool:
        return "hidden" in self.attributes

    @hidden.setter
    def hidden(self, hidden: bool) -> None:
        self.attributes.pop("hidden", None)
        if hidden:
            self.attributes["hidden"] = ""

    @property
    def isConnected(self) -> bool:
        return self.tagName == "HTML" or (self.parent is not None and self.parent.isConnected)

    @property
    def childElementCount(self) -> int:
        return sum(isinstance(node, FormNode) for node in self.nodes)

    @property
    def textContent(self) -> str:
        return "".join(node if isinstance(node, str) else node.textContent for node in self.nodes)

    @textContent.setter
    def textContent(self, text: str) -> None:
        self.replaceChildren(text)

    @property
    def innerHTML(self) -> str:
        return "".join(html.escape(node) if isinstance(node, str) else node._html() for node in self.nodes)

    @innerHTML.setter
    def innerHTML(self, text: str) -> None:
        self.replaceChildren(parsed(text, type(self)))

    def _html(self) -> str:
        tag = self.tagName.lower()
        attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in self.attributes.items())
        return f"<{tag}{attributes}>" + ("" if tag in _ALONE else f"{self.innerHTML}</{tag}>")

    def focus(self) -> None:
        """Do nothing: nobody sees it."""

    def getAttribute(self, name: str) -> str | None:
        return self.attributes.get(name)

    def hasAttribute(self, name: str) -> bool:
        return name in self.attributes

    def setAttribute(self, name: str, value: str) -> None:
        self.attributes[name] = value

    def removeAttribute(self, name: str) -> None:
        self.attributes.pop(name, None)

    def append(self, *nodes: FormNode | str) -> None:
        for node in nodes:
            if isinstance(node, FormNode):
                if node.tagName == "#FRAGMENT":
                    self.append(*node.nodes)
                    continue
                node.parent = self
            self.nodes.append(node)

    def replaceChildren(self, *nodes: FormNode | str) -> None:
        for node in self.nodes:
            if isinstance(node, FormNode):
                node.parent = None
        self.nodes = []
        self.append(*nodes)

    def remove(self) -> None:
        if self.parent:
            self.parent.nodes.remove(self)
            self.parent = None

    def closest(self, tag: str) -> FormNode | None:
        """Return the nearest element of a kind around this one, or this one."""
        return self if self.tagName == tag.upper() else self.parent.closest(tag) if self.parent else None

    def querySelectorAll(self, selector: str) -> list[FormNode]:
        choices = [each.split() for each in selector.split(",")]
        return [node for node in self.all() if any(node._is(parts) for parts in choices)]

    def querySelector(self, selector: str) -> FormNode | None:
        return next(iter(self.querySelectorAll(selector)), None)

    def all(self) -> Iterator[FormNode]:
        """Yield all elements in this one, in their order."""
        for node in self.nodes:
            if isinstance(node, FormNode):
                yield node
                yield from node.all()

    def _is(self, parts: list[str]) -> bool:
        """Return whether an element matches the last part, and elements around it the others."""
        if not parts or not self._matches(parts[-1]):
            return False
        around = self.parent
        for part in reversed(parts[:-1]):
            while around is not None and not around._matches(part):
                around = around.parent
            if around is None:
                return False
            around = around.parent
        return True

    def _matches(self, part: str) -> bool:
        conditions = list(_PART.finditer(part))
        if not conditions or "".join(each[0] for each in conditions) != part:
            return False
        return all(self._has(each) for each in conditions)

    def _has(self, part: re.Match[str]) -> bool:
        if part["tag"]:
            return part["tag"] == "*" or self.tagName == part["tag"].upper()
        if part["id"]:
            return self.id == part["id"]
        if part["class"]:
            return self.classList.contains(part["class"])
        value = self.attributes.get(part["name"])
        return value is not None and part["value"] in (None, value)

    def seen(self) -> str:
        """Return the text that a person would see, without that of controls."""
        if self.hidden or self.tagName.lower() in _UNSEEN:
            return ""
        text = "".join(re.sub(r"\s+", " ", node) if isinstance(node, str) else node.seen() for node in self.nodes)
        return f"\n{text.strip()}\n" if self.tagName.lower() in _BLOCKS else text


class FileList(list[Any]):
    """The files of an input: always none."""

    @property
    def length(self) -> int:
        return len(self)


class ClassList:
    """The classes of an element."""

    def __init__(self, owner: FormNode) -> None:
        self._owner = owner

    def __iter__(self) -> Iterator[str]:
        return iter(self._owner.attributes.get("class", "").split())

    @property
    def length(self) -> int:
        return len(list(self))

    def contains(self, name: str) -> bool:
        return name in list(self)

    def add(self, name: str) -> None:
        self._owner.attributes["class"] = " ".join(dict.fromkeys([*self, name]))

    def remove(self, name: str) -> None:
        self._owner.attributes["class"] = " ".join(each for each in self if each != name)


class _Parser(HTMLParser):
    def __init__(self, make: type[FormNode]) -> None:
        super().__init__()
        self.root = make("#fragment")
        self._make = make
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ENDED_BY_THE_NEXT and self._open[-1].tagName == tag.upper():
            self._open.pop()
        node = self._make(tag, {name: value or "" for name, value in attrs})
        self._open[-1].append(node)
        if tag not in _ALONE:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if any(node.tagName == tag.upper() for node in self._open):
            while self._open.pop().tagName != tag.upper():
                pass

    def handle_data(self, data: str) -> None:
        self._open[-1].append(data)


def parsed(text: str, make: type[FormNode] = FormNode) -> FormNode:
    """Return a fragment.

    Args:
        text: HTML.
        make: The class of its elements.
    """
    parser = _Parser(make)
    parser.feed(text)
    parser.close()
    return parser.root


class Document:
    """The document of a page, with the author's part.

    Args:
        make: The class of its elements.
    """

    def __init__(self, make: type[FormNode] = FormNode) -> None:
        self.documentElement = make("html")
        self.documentElement.innerHTML = '<main id="mcpframe-app"></main>'
        self.defaultView = make("window")
        self.activeElement: FormNode | None = None
        self._make = make

    def createElement(self, tag: str) -> FormNode:
        return self._make(tag)
