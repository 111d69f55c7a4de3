"""A document without a browser: as much of the DOM as `session_page` uses, and a `Browser` around it."""

# ruff: noqa: N802  the names are the browser's

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

from mcpframe.frame.core.errors import PageError

PAGE = '<div id="mcpframe-page"></div><main id="mcpframe-app"></main>'
_ALONE = {"img", "input", "br", "link"}


class FakeClassList:
    def __init__(self) -> None:
        self._names: list[str] = []

    def contains(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        self._names = [*filter(name.__ne__, self._names), name]

    def remove(self, name: str) -> None:
        self._names = [*filter(name.__ne__, self._names)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @property
    def length(self) -> int:
        return len(self._names)


class FakeFileList(list["FakeFile"]):
    @property
    def length(self) -> int:
        return len(self)


class FakeFile:
    def __init__(self, name: str, data: bytes, type_: str = "") -> None:
        self.name, self.size, self.type, self.data = name, len(data), type_, data


class FakeElement:
    """An element, with the names that the browser has."""

    def __init__(self, tag: str) -> None:
        self.tagName = tag.upper()
        self.attributes: dict[str, str] = {}
        self.nodes: list[FakeElement | str] = []
        self.parent: FakeElement | None = None
        self.classList = FakeClassList()
        self.checked = self.disabled = self.focused = False
        self.scrollHeight = self.scrollTop = self.clientHeight = 0
        self._value = ""
        self.files = FakeFileList()

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def value(self) -> str:
        return self._value

    @value.setter
    def value(self, value: str) -> None:
        self._value = value
        if self.attributes.get("type") == "file":
            self.files = FakeFileList()

    @property
    def hidden(self) -> bool:
        return "hidden" in self.attributes

    @hidden.setter
    def hidden(self, hidden: bool) -> None:
        if hidden:
            self.attributes["hidden"] = ""
        else:
            self.attributes.pop("hidden", None)

    def focus(self) -> None:
        self.focused = True

    def getAttribute(self, name: str) -> str | None:
        return self.attributes.get(name)

    def hasAttribute(self, name: str) -> bool:
        return name in self.attributes

    def setAttribute(self, name: str, value: str) -> None:
        self.attributes[name] = value

    def removeAttribute(self, name: str) -> None:
        self.attributes.pop(name, None)

    @property
    def isConnected(self) -> bool:
        return self.tagName == "HTML" or (self.parent is not None and self.parent.isConnected)

    @property
    def childElementCount(self) -> int:
        return sum(isinstance(node, FakeElement) for node in self.nodes)

    @property
    def firstElementChild(self) -> FakeElement | None:
        return next((node for node in self.nodes if isinstance(node, FakeElement)), None)

    def contains(self, other: object) -> bool:
        return other is self or any(isinstance(node, FakeElement) and node.contains(other) for node in self.nodes)

    @property
    def textContent(self) -> str:
        return "".join(node if isinstance(node, str) else node.textContent for node in self.nodes)

    @textContent.setter
    def textContent(self, text: str) -> None:
        self.replaceChildren(text)

    @property
    def innerHTML(self) -> str:
        return "".join(node if isinstance(node, str) else f"<{node.tagName.lower()}>" for node in self.nodes)

    @innerHTML.setter
    def innerHTML(self, html: str) -> None:
        self.replaceChildren(parsed(html))

    def append(self, *nodes: FakeElement | str) -> None:
        for node in nodes:
            if isinstance(node, FakeElement) and node.tagName == "#FRAGMENT":
                self.append(*node.nodes)
                continue
            if isinstance(node, FakeElement):
                node.parent = self
            self.nodes.append(node)

    def replaceChildren(self, *nodes: FakeElement | str) -> None:
        for node in self.nodes:
            if isinstance(node, FakeElement):
                node.parent = None
        self.nodes = []
        self.append(*nodes)

    def remove(self) -> None:
        if self.parent:
            self.parent.nodes.remove(self)
            self.parent = None

    def querySelectorAll(self, selector: str) -> list[FakeElement]:
        found = []
        for node in self.nodes:
            if isinstance(node, FakeElement):
                if node.matches(selector):
                    found.append(node)
                found += node.querySelectorAll(selector)
        return found

    def querySelector(self, selector: str) -> FakeElement | None:
        return next(iter(self.querySelectorAll(selector)), None)

    def matches(self, selector: str) -> bool:
        if match := re.fullmatch(r"\[(\w+)\]", selector):
            return match[1] in self.attributes
        if selector.startswith("#"):
            return self.id == selector[1:]
        if selector.startswith("."):
            return selector[1:] in self.attributes.get("class", "").split()
        return self.tagName == selector.upper()


class FakeEvent:
    def __init__(self, kind: str, target: FakeElement, **members: Any) -> None:
        self.type, self.target = kind, target
        self.prevented = False
        self.__dict__.update(members)

    def preventDefault(self) -> None:
        self.prevented = True


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = FakeElement("#fragment")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = FakeElement(tag)
        element.attributes = {name: value or "" for name, value in attrs}
        self.open[-1].append(element)
        if tag not in _ALONE:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)


def parsed(html: str) -> FakeElement:
    """Return a fragment."""
    parser = _Parser()
    parser.feed(html)
    return parser.root


class FakeDocument:
    def __init__(self) -> None:
        self.documentElement = FakeElement("html")
        self.documentElement.innerHTML = PAGE
        self.activeElement: FakeElement | None = None

    def createElement(self, tag: str) -> FakeElement:
        return FakeElement(tag)


class FakeBrowser:
    """`ui.Browser` around a fake document.

    Attributes:
        files: what can be fetched, by URL.
        listeners: the present listeners.
        watchers: the callbacks for changes of the page's visibility.
        downloads: the files that the user was offered.
        reachable: cleared while a fetch is to wait.
    """

    def __init__(self, **files: bytes) -> None:
        self.document = FakeDocument()
        self.files: dict[str, bytes] = files
        self.listeners: list[tuple[FakeElement, str, Callable[[Any], None]]] = []
        self.watchers: list[Callable[[bool], None]] = []
        self.seen = False
        self.reachable = asyncio.Event()
        self.reachable.set()
        self.downloads: list[tuple[str, bytes, str]] = []

    def listen(self, target: Any, kind: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        entry = (target, kind, callback)
        self.listeners.append(entry)
        return lambda: self.listeners.remove(entry)

    def watch(self, changed: Callable[[bool], None]) -> Callable[[], None]:
        self.watchers.append(changed)
        changed(self.seen)
        return lambda: self.watchers.remove(changed)

    def parse(self, html: str) -> FakeElement:
        return parsed(html)

    async def fetch(self, url: str) -> bytes:
        await self.reachable.wait()
        if url not in self.files:
            raise OSError("HTTP status 404")
        return self.files[url]

    async def import_module(self, url: str) -> Any:
        raise PageError(f"The JavaScript module {url} could not be imported: there is no JavaScript")

    async def read(self, file: Any) -> bytes:
        data: bytes = file.data
        return data

    def download(self, name: str, data: bytes, kind: str) -> None:
        self.downloads.append((name, data, kind))

    # What a person does

    def happen(self, selector: str, kind: str, **members: Any) -> FakeEvent:
        """Dispatch an event on an element."""
        target = self.document.documentElement.querySelector(selector)
        assert target is not None, f"there is no {selector}"
        event = FakeEvent(kind, target, **members)
        for element, wanted, callback in list(self.listeners):
            if element is target and wanted == kind:
                callback(event)
        return event

    def show(self, seen: bool) -> None:
        """Show the page, or hide it."""
        self.seen = seen
        for changed in list(self.watchers):
            changed(seen)
